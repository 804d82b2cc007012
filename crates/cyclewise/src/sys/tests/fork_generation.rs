//! Children have numbers of their own, with the page and without.
//!
//! # Safety
//! The child makes a system call at most.
#![expect(unsafe_code, reason = "a forked child")]

use crate::sys::for_tests::fork;
use crate::sys::fork_generation::*;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;

static PARENTS: AtomicU32 = AtomicU32::new(0);
static WORDS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];
static BY_PID: [AtomicU64; 3] = [AtomicU64::new(NO_PAGE), AtomicU64::new(0), AtomicU64::new(0)];
static PARENTS_BY_PID: AtomicU32 = AtomicU32::new(0);

#[test]
fn without_the_page_a_child_has_another_number() {
    let here = current_in(&BY_PID);
    assert_eq!(current_in(&BY_PID), here);
    PARENTS_BY_PID.store(here, Relaxed);
    let child = || assert_ne!(current_in(&BY_PID), PARENTS_BY_PID.load(Relaxed));
    // SAFETY: the child makes a system call.
    assert_eq!(unsafe { fork::child(child, Duration::from_secs(600)) }, 0);
}

#[test]
fn a_child_has_another_number_and_threads_have_the_same() {
    let here = current_in(&WORDS);
    assert_ne!(here, 0);
    assert_eq!(std::thread::spawn(|| current_in(&WORDS)).join().unwrap(), here);
    PARENTS.store(here, Relaxed);
    let child = || {
        let (here, parents) = (current_in(&WORDS), PARENTS.load(Relaxed));
        assert_ne!(here, parents);
        assert_eq!(count(here), count(parents) + 1);
    };
    // SAFETY: the child makes a system call at most.
    assert_eq!(unsafe { fork::child(child, Duration::from_secs(600)) }, 0);
    assert_eq!(current_in(&WORDS), here);
}
