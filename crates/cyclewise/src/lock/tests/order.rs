//! First come, first served: waiters that queue one after the other, as the tail shows, get the lock in that order.

use super::super::fast_path;
use super::super::high_half_word::HighHalfWord;
use super::super::lock_word::{LockWord, NO_TAIL, SplitWord};
use super::super::nodes::for_tests::claim_all;
use super::super::relax::Exponential;
use super::super::{Futex, Moment, Park};
use crate::primitive::AtomicU32;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use std::vec::Vec;

/// Far more than CPUs, so that most of them sleep.
const WAITERS: usize = 64;
const MILLISECOND_NS: u64 = 1_000_000;

/// One test at a time: the nodes are shared by the whole program.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A futex whose deadlines all pass when [`TIME`] is set.
struct OnCall;

static TIME: AtomicBool = AtomicBool::new(false);

impl Park for OnCall {
    type Deadline = ();
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<()>) {
        match until {
            Some(()) => Futex::nap(word, expected, None),
            None => Futex::wait(word, expected, None),
        }
    }

    fn nap(word: &AtomicU32, expected: u32, _: Option<()>) {
        Futex::nap(word, expected, None);
    }

    fn wake(word: &AtomicU32) {
        Futex::wake(word);
    }

    fn is_past((): ()) -> bool {
        TIME.load(Relaxed)
    }
}

fn lock<W: LockWord>(word: &W) {
    fast_path::lock::<W, Futex, Exponential>(word);
}

fn unlock<W: LockWord>(word: &W) {
    fast_path::unlock::<W, Futex>(word);
}

/// Waits until the tail changes.
fn joined<W: LockWord>(word: &W, before: u16) {
    while word.tail() == before {
        thread::sleep(Duration::from_micros(50));
    }
}

/// Starts the waiters one after the other while the lock is held, and returns the order in which they got it. Those for which
/// `leaves` is true leave once all are queued.
fn order_of<W: LockWord + Sync>(word: &W, leaves: impl Fn(usize) -> bool) -> Vec<usize> {
    let order = Mutex::new(Vec::new());
    TIME.store(false, Relaxed);
    lock(word);
    thread::scope(|scope| {
        let mut leavers = Vec::new();
        for waiter in 0..WAITERS {
            let before = word.tail();
            let order = &order;
            if leaves(waiter) {
                leavers.push(scope.spawn(move || {
                    assert!(!fast_path::lock_until::<W, OnCall, Exponential>(word, ()), "it is held");
                }));
            } else {
                scope.spawn(move || {
                    fast_path::lock::<W, OnCall, Exponential>(word);
                    order.lock().unwrap().push(waiter);
                    fast_path::unlock::<W, OnCall>(word);
                });
            }
            joined(word, before);
        }
        TIME.store(true, Relaxed);
        for leaver in leavers {
            leaver.join().unwrap();
        }
        fast_path::unlock::<W, OnCall>(word);
    });
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
    order.into_inner().unwrap()
}

#[test]
fn first_come_first_served() {
    let _alone = alone();
    let all: Vec<_> = (0..WAITERS).collect();
    assert_eq!(order_of(&SplitWord::new(), |_| false), all);
    assert_eq!(order_of(&HighHalfWord::new(7), |_| false), all);
}

#[test]
fn waiters_that_leave_are_skipped() {
    let _alone = alone();
    let stay: Vec<_> = (0..WAITERS).filter(|waiter| waiter % 3 == 1).collect();
    assert_eq!(order_of(&SplitWord::new(), |waiter| waiter % 3 != 1), stay);
}

#[test]
fn all_may_leave() {
    let _alone = alone();
    let word = SplitWord::new();
    assert_eq!(order_of(&word, |_| true), []);
    lock(&word);
    unlock(&word);
}

#[test]
fn a_head_that_leaves_passes_the_headship_on() {
    let _alone = alone();
    // The first waiter is the head, and leaves as one.
    assert_eq!(
        order_of(&SplitWord::new(), |waiter| waiter == 0),
        Vec::from_iter(1..WAITERS)
    );
}

#[test]
fn a_free_lock_is_taken_after_the_deadline_too() {
    let word = SplitWord::new();
    assert!(fast_path::lock_until::<_, Futex, Exponential>(
        &word,
        Moment::after_ns(0)
    ));
    assert!(!fast_path::lock_until::<_, Futex, Exponential>(
        &word,
        Moment::after_ns(0)
    ));
    unlock(&word);
}

#[test]
fn a_wait_ends_at_its_deadline_and_not_before() {
    let word = SplitWord::new();
    lock(&word);
    let until = Moment::after_ns(MILLISECOND_NS);
    assert!(!fast_path::lock_until::<_, Futex, Exponential>(&word, until));
    assert!(Moment::after_ns(0) >= until);
    unlock(&word);
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
}

#[test]
fn it_locks_without_nodes_too() {
    let _alone = alone();
    let nodes = claim_all();
    let (word, sum) = (SplitWord::new(), Mutex::new(0));
    lock(&word);
    assert!(!fast_path::lock_until::<_, Futex, Exponential>(
        &word,
        Moment::after_ns(MILLISECOND_NS)
    ));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    lock(&word);
                    *sum.try_lock().expect("no other thread is inside") += 1;
                    unlock(&word);
                }
            });
        }
        unlock(&word);
    });
    assert_eq!(sum.into_inner().unwrap(), 4000);
    for index in nodes {
        index.node().free();
    }
}
