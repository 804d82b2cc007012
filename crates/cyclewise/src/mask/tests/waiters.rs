//! A resource whose memory the next owner frees while the owner before is still waking waiters.
//!
//! # Safety
//! 1. The page is unmapped once, and what is tested does not use it afterwards. The twin does, in a child, and ends it.
#![expect(unsafe_code, reason = "memory that is unmapped while it is used")]

use crate::mask::waiters::Waiters;
use crate::sys::for_tests::fork;
use crate::sys::mmap;

const PAGE: usize = 4096;

/// Frees a resource by `release`, which is given the waiters and what the next owner does at once: it unmaps them.
fn unmapped_by_the_next_owner(someone_has_slept: bool, release: impl FnOnce(&Waiters, &dyn Fn())) {
    let page = mmap::zeroes(PAGE).unwrap();
    // SAFETY: mapped above, and zeroes are a word on which nobody sleeps.
    let waiters = unsafe { page.cast::<Waiters>().as_ref() };
    if someone_has_slept {
        assert_eq!(waiters.wait(0, || None::<()>), None);
    }
    // SAFETY: Invariant 1.
    release(waiters, &|| unsafe { mmap::release(page, PAGE) });
}

#[test]
fn nothing_is_used_after_the_resource_is_free() {
    for someone_has_slept in [false, true] {
        unmapped_by_the_next_owner(someone_has_slept, |waiters, free| waiters.wake_after(free));
    }
}

#[test]
fn the_twin_that_looks_afterwards_faults() {
    let child = || {
        unmapped_by_the_next_owner(false, |waiters, free| {
            free();
            waiters.wake_after(|| ());
        });
    };
    // SAFETY: the child makes system calls.
    let status = unsafe { fork::child(child, core::time::Duration::from_secs(600)) };
    assert_eq!(status, libc::SIGSEGV);
}
