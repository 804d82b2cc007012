//! Whose memory a file is.
//!
//! # Safety
//! The child makes system calls, and allocates only where it panics.
#![expect(unsafe_code, reason = "a forked child")]

use crate::sys::for_tests::fork;
use crate::sys::proc_mem::*;
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicI32, Ordering::Relaxed};
use core::time::Duration;
use std::os::fd::AsRawFd;

#[test]
fn this_process_is_its_own_and_a_file_is_not() {
    let memory = ProcMem::open().unwrap();
    assert!(memory.is_own() && memory.is_own());
    let file = std::fs::File::open("/dev/zero").unwrap();
    assert!(!ProcMem::of_number(file.as_raw_fd()).is_own());
    assert!(!ProcMem::of_number(-1).is_own());
    assert!(ProcMem::of_number(file.as_raw_fd()).identity() != memory.identity());
}

#[test]
fn a_parent_is_not_its_childs_own() {
    static PARENTS: AtomicI32 = AtomicI32::new(-1);
    PARENTS.store(ProcMem::open().unwrap().into_number(), Relaxed);
    let look = || {
        let parents = ProcMem::of_number(PARENTS.load(Relaxed));
        assert!(parents.identity().is_some() && !parents.is_own());
    };
    // SAFETY: the child makes system calls, and allocates only where it panics.
    assert_eq!(unsafe { fork::child(look, Duration::from_secs(600)) }, 0);
    drop(ManuallyDrop::into_inner(ProcMem::of_number(PARENTS.load(Relaxed))));
}
