//! Waits, wakes and moments.

use crate::sys::futex::*;
use core::sync::atomic::{AtomicU32, Ordering};

#[test]
fn a_wait_ends_at_the_moment_and_not_before() {
    let word = AtomicU32::new(1);
    let until = Moment::after_ns(2_000_000);
    while Moment::after_ns(0) < until {
        wait(word.as_ptr(), 1, Some(until));
    }
    assert!(Moment::after_ns(0) >= until);
}

#[test]
fn a_changed_word_is_not_waited_for() {
    let word = AtomicU32::new(2);
    wait(word.as_ptr(), 1, None);
}

#[test]
fn a_sleeper_is_woken() {
    static WORD: AtomicU32 = AtomicU32::new(0);
    let sleeper = std::thread::spawn(|| {
        while WORD.load(Ordering::Acquire) == 0 {
            wait(WORD.as_ptr(), 0, None);
        }
    });
    WORD.store(1, Ordering::Release);
    wake(WORD.as_ptr());
    sleeper.join().unwrap();
}

#[test]
fn text_refuses_stores_and_a_local_takes_them() {
    let text = (text_refuses_stores_and_a_local_takes_them as fn() as usize).next_multiple_of(4);
    assert!(refuses_stores(text));
    let local = AtomicU32::new(0x1234_5678);
    assert!(!refuses_stores(local.as_ptr().expose_provenance()));
    assert_eq!(local.into_inner(), 0x1234_5678);
    assert!(refuses_stores(0));
}

#[test]
fn the_last_moment_is_far() {
    let end = Moment::after_ns(u64::MAX);
    assert!(end > Moment::after_ns(u64::MAX / 2));
    let spec = end.timespec();
    assert!(spec.tv_sec > 0 && spec.tv_nsec < SECOND_NS as libc::c_long);
}
