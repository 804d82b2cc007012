//! Filters that refuse membarrier(2), or answer in the kernel's place, before and after the process has chosen.

use crate::common::filter::refuse;
use crate::common::harness::{Check, checks};
use cyclewise::fence;
use std::panic::catch_unwind;

pub(crate) const CHECKS: &[Check] = checks![
    a_refusal_makes_both_fences_whole,
    a_lie_makes_both_fences_whole,
    the_choice_is_kept,
    a_later_refusal_is_an_error_and_not_a_fence,
];

fn is_symmetric(errno: i32) {
    refuse(libc::SYS_membarrier, &[], errno);
    assert!(!fence::is_asymmetric());
    assert!(fence::Asymmetric::get().is_none());
    fence::light();
    fence::heavy();
    fence::heavy_batched();
    assert_eq!(fence::try_heavy(), Ok(()));
}

fn a_refusal_makes_both_fences_whole() {
    is_symmetric(libc::EPERM);
}

fn a_lie_makes_both_fences_whole() {
    is_symmetric(0);
}

/// Also by a thread whose own answer would have been another.
fn the_choice_is_kept() {
    std::thread::spawn(|| is_symmetric(libc::ENOSYS)).join().unwrap();
    assert!(!fence::is_asymmetric());
}

fn a_later_refusal_is_an_error_and_not_a_fence() {
    if !fence::is_asymmetric() {
        println!("skipped: no membarrier(2) here");
        return;
    }
    for errno in [0, libc::EPERM] {
        std::thread::spawn(move || {
            refuse(libc::SYS_membarrier, &[], errno);
            assert!(fence::try_heavy().is_err());
            for heavy in [fence::heavy, fence::heavy_batched] {
                let said = catch_unwind(heavy).unwrap_err();
                let said = said.downcast_ref::<String>().unwrap();
                assert!(said.starts_with("no heavy fence: "), "{said}");
            }
        })
        .join()
        .unwrap();
    }
    // Threads without that filter go on.
    fence::heavy();
    fence::heavy_batched();
}
