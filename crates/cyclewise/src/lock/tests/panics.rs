//! Code of the program's that panics, where its calls cannot be reached through the public types: deadlines, slots.

use super::super::fast_path;
use super::super::lock_word::{LockWord, NO_TAIL, SplitWord};
use super::super::nodes::{claim, claim_all, in_use};
use super::super::park::{Futex, Moment, Park};
use super::super::relax::{Exponential, Relax};
use super::order::alone;
use crate::primitive::AtomicU32;
use core::cell::Cell;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

std::thread_local! {
    /// After how many calls this thread's code panics; 0: never.
    static FUSE: Cell<u32> = const { Cell::new(0) };
}

fn called() {
    let left = FUSE.get();
    FUSE.set(left.saturating_sub(1));
    if left == 1 {
        resume_unwind(Box::new(()));
    }
}

/// Asked for the time, and for naps; a deadline that never comes.
struct Fussy;

impl Park for Fussy {
    type Deadline = ();
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, _: Option<()>) {
        called();
        Futex::nap(word, expected, None);
    }

    fn nap(word: &AtomicU32, expected: u32, _: Option<()>) {
        called();
        Futex::nap(word, expected, None);
    }

    fn wake(word: &AtomicU32) {
        Futex::wake(word);
    }

    fn is_past((): ()) -> bool {
        called();
        false
    }
}

/// One call for a phase.
#[derive(Default)]
struct Long;

impl Relax for Long {
    fn relax(&mut self) -> u32 {
        called();
        1 << 12
    }
}

/// Whether a timed wait for a lock that is held unwinds at its n-th call. It never ends by itself.
fn unwinds(word: &SplitWord, n: u32) -> bool {
    FUSE.set(n);
    catch_unwind(AssertUnwindSafe(|| fast_path::lock_until::<_, Fussy, Long>(word, ()))).is_err()
}

/// So many calls reach every phase of a wait that does not end.
const CALLS: u32 = 50;

#[test]
fn a_head_leaves_whatever_it_was_asking() {
    let _alone = alone();
    let word = SplitWord::new();
    fast_path::lock::<_, Futex, Exponential>(&word);
    for n in 1..CALLS {
        assert!(unwinds(&word, n));
        assert_eq!(word.tail(), NO_TAIL, "it was the only one");
        assert_eq!(in_use(word.address()), 0, "and has given its slot back");
    }
    fast_path::unlock::<_, Futex>(&word);
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
}

#[test]
fn a_waiter_behind_another_leaves_whatever_it_was_asking() {
    let _alone = alone();
    let word = SplitWord::new();
    fast_path::lock::<_, Futex, Exponential>(&word);
    thread::scope(|scope| {
        scope.spawn(|| {
            fast_path::lock::<_, Futex, Exponential>(&word);
            fast_path::unlock::<_, Futex>(&word);
        });
        while word.tail() == NO_TAIL {
            thread::sleep(Duration::from_micros(50));
        }
        for n in 1..CALLS {
            assert!(unwinds(&word, n));
        }
        fast_path::unlock::<_, Futex>(&word);
    });
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
    assert_eq!(in_use(word.address()), 0, "every slot is given back");
}

#[test]
fn a_wait_without_a_slot_unwinds_too() {
    let _alone = alone();
    let slots = claim_all();
    let word = SplitWord::new();
    fast_path::lock::<_, Futex, Exponential>(&word);
    for n in 1..CALLS {
        assert!(unwinds(&word, n));
    }
    fast_path::unlock::<_, Futex>(&word);
    assert!(fast_path::try_lock(&word));
    slots.into_iter().for_each(|place| place.node().free());
}

/// A waiter that unwinds and stays in the queue, as it did once: whoever is behind it is served by nobody.
#[test]
fn twin_a_place_that_is_not_left_is_seen() {
    let _alone = alone();
    let word = SplitWord::new();
    let stale = claim(word.address()).expect("a slot");
    word.swap_tail(stale.number());
    fast_path::lock::<_, Futex, Exponential>(&word);
    let soon = || Moment::after_ns(20_000_000);
    thread::scope(|scope| {
        let behind = scope.spawn(|| fast_path::lock_until::<_, Futex, Exponential>(&word, soon()));
        while word.tail() == stale.number() {
            thread::sleep(Duration::from_micros(50));
        }
        fast_path::unlock::<_, Futex>(&word);
        assert!(
            !behind.join().unwrap(),
            "the lock is free, and nobody makes it the head"
        );
    });
    // Its own end of it: the places of both.
    stale.node().pass().expect("the one behind").node().free();
    stale.node().free();
}
