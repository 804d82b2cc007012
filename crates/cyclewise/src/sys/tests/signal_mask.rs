//! An address is asked about before it is read.
//!
//! # Safety
//! The child reads an address where nothing is, which ends it.
#![expect(unsafe_code, reason = "a forked child, and an address that is not mapped")]

use crate::sys::errno;
use crate::sys::for_tests::fork;
use crate::sys::signal_mask::*;
use core::time::Duration;

/// An address where nothing is mapped: below what vm.mmap_min_addr allows by default.
const NOWHERE: *const u8 = core::ptr::without_provenance(4096);

#[test]
fn what_cannot_be_loaded_is_not_read() {
    let there = [0_u8; 8];
    let before = set_of(0);
    let old = change(libc::SIG_BLOCK, &before).unwrap();
    errno::set(7);
    assert!(reads(there.as_ptr().addr()));
    assert!(reads(what_cannot_be_loaded_is_not_read as fn() as usize));
    assert!(!reads(NOWHERE.addr()));
    assert_eq!(errno::get(), 7);
    assert_eq!(bits_of(&change(libc::SIG_BLOCK, &before).unwrap()), bits_of(&old));
}

#[test]
fn twin_a_load_without_the_question_faults() {
    let load = || {
        // SAFETY: ends the child by a signal.
        let byte = unsafe { NOWHERE.read_volatile() };
        assert_eq!(byte, 0);
    };
    // SAFETY: the child reads an address.
    let status = unsafe { fork::child(load, Duration::from_secs(600)) };
    assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV);
}
