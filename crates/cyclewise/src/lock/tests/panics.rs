//! Panics in the program's code at calls that the public types do not reach: deadlines, waits without nodes.

use super::super::fast_path;
use super::super::lock_word::{LockWord, NO_TAIL, SplitWord};
use super::super::nodes::claim;
use super::super::nodes::for_tests::{claim_all, in_use};
use super::super::relax::{Exponential, Relax};
use super::super::turn::PASSES;
use super::super::{Futex, Moment, Park};
use super::order::alone;
use crate::primitive::AtomicU32;
use core::cell::Cell;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

std::thread_local! {
    /// The number of calls after which this thread's code panics; 0: never.
    static FUSE: Cell<u32> = const { Cell::new(0) };
}

fn called() {
    let left = FUSE.get();
    FUSE.set(left.saturating_sub(1));
    if left == 1 {
        resume_unwind(Box::new(()));
    }
}

/// Panics when the fuse is out; its deadline never passes.
struct Panicking;

impl Park for Panicking {
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

    fn now_ns() -> Option<u64> {
        called();
        None
    }
}

/// One call ends each phase.
#[derive(Default)]
struct Long;

impl Relax for Long {
    fn relax(&mut self) -> u32 {
        called();
        1 << 12
    }
}

/// Whether a timed wait for a held lock unwinds at its n-th call. It never ends otherwise.
fn unwinds(word: &SplitWord, n: u32) -> bool {
    FUSE.set(n);
    catch_unwind(AssertUnwindSafe(|| {
        fast_path::lock_until::<_, Panicking, Long>(word, ())
    }))
    .is_err()
}

/// Enough calls to reach every phase of a wait.
const CALLS: u32 = 50;

#[test]
fn a_head_that_unwinds_leaves_the_queue() {
    let _alone = alone();
    let word = SplitWord::new();
    fast_path::lock::<_, Futex, Exponential>(&word);
    for n in 1..CALLS {
        assert!(unwinds(&word, n));
        assert_eq!(word.tail(), NO_TAIL, "it was the only waiter");
        assert_eq!(in_use(word.address()), 0, "its node is free");
    }
    fast_path::unlock::<_, Futex>(&word);
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
}

#[test]
fn a_waiter_that_unwinds_leaves_the_queue() {
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
    assert_eq!(in_use(word.address()), 0, "every node is free");
}

#[test]
fn a_wait_without_a_node_unwinds_too() {
    let _alone = alone();
    let nodes = claim_all();
    let word = SplitWord::new();
    fast_path::lock::<_, Futex, Exponential>(&word);
    for n in 1..CALLS {
        assert!(unwinds(&word, n));
    }
    fast_path::unlock::<_, Futex>(&word);
    assert!(fast_path::try_lock(&word));
    nodes.into_iter().for_each(|index| index.node().free());
}

#[test]
fn a_release_whose_clock_unwinds_has_released() {
    let _alone = alone();
    let word = SplitWord::new();
    let head = claim(word.address()).expect("a node");
    word.swap_tail(head.number());
    let mut unwound = 0;
    for _ in 0..2 * PASSES {
        assert!(fast_path::try_lock(&word), "released");
        FUSE.set(1);
        let unlock = AssertUnwindSafe(|| fast_path::unlock::<_, Panicking>(&word));
        unwound += u16::from(catch_unwind(unlock).is_err());
        FUSE.set(0);
    }
    assert_eq!(unwound, 2, "once for each reading of the clock");
    assert!(word.end_tail(head.number()));
    head.node().free();
}

/// The twin: a waiter that unwinds without leaving the queue. Its successor is never made the head.
#[test]
fn the_twin_that_stays_in_the_queue_blocks_its_successor() {
    let _alone = alone();
    let word = SplitWord::new();
    let stale = claim(word.address()).expect("a node");
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
            "the lock is free, but no waiter makes it the head"
        );
    });
    // Frees both nodes.
    stale.node().pass().expect("the successor").node().free();
    stale.node().free();
}
