//! Threads clone and drop while the owner lets go; and a twin that counts the same in two steps.

use crate::error::Refusal;
use crate::percpu::reference::protocol::{self, OPEN, Parts, SHUT};
use crate::percpu::{Arc, ArcOwner};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use core::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
use std::sync::Barrier;
use std::thread;

const THREADS: usize = 4;
/// Clones of a thread in a round.
const CLONES: usize = 50;

fn rounds() -> usize {
    if std::env::var_os("CYCLEWISE_LONG").is_some() {
        10_000
    } else {
        300
    }
}

/// A value that is poisoned when it is destroyed.
struct Canary<'a> {
    is_live: AtomicU64,
    destroyed: &'a AtomicUsize,
}

const LIVE: u64 = 0x5afe_5afe_5afe_5afe;

impl Drop for Canary<'_> {
    fn drop(&mut self) {
        assert_eq!(self.is_live.swap(0, Relaxed), LIVE);
        self.destroyed.fetch_add(1, Relaxed);
    }
}

#[test]
fn no_value_is_destroyed_while_a_clone_is_left_and_each_is_in_the_end() {
    let destroyed = AtomicUsize::new(0);
    let rounds = rounds();
    for round in 0..rounds {
        let owner = ArcOwner::new(Canary {
            is_live: AtomicU64::new(LIVE),
            destroyed: &destroyed,
        });
        let start = Barrier::new(THREADS + 1);
        thread::scope(|scope| {
            for n in 0..THREADS {
                let (mine, start) = (ArcOwner::share(&owner), &start);
                scope.spawn(move || {
                    start.wait();
                    for _ in 0..CLONES {
                        let clone = mine.clone();
                        assert_eq!(clone.is_live.load(Relaxed), LIVE, "destroyed under a clone");
                        drop(clone);
                    }
                    if n % 2 == 0 {
                        assert!(Arc::into_inner(mine).is_none_or(|value| value.is_live.load(Relaxed) == LIVE));
                    }
                });
            }
            start.wait();
            drop(owner);
        });
        assert_eq!(destroyed.load(Relaxed), round + 1);
    }
}

/// The twin: it checks the guard, and adds a moment later, and nobody waits for that.
struct InTwoSteps {
    guard: AtomicU64,
    shared: AtomicU64,
    slot: AtomicI64,
}

impl Parts for InTwoSteps {
    fn add_in_slot(&self, amount: i64) -> bool {
        let is_open = self.guard.load(Acquire) == OPEN;
        thread::yield_now();
        if is_open {
            self.slot.fetch_add(amount, Relaxed);
        }
        is_open
    }
    fn set_guard(&self, guard: u64) {
        self.guard.store(guard, SeqCst);
    }
    fn wait_for_slots(&self) -> Result<(), Refusal> {
        Ok(())
    }
    fn take_slots(&self) -> i64 {
        self.slot.swap(0, Relaxed)
    }
    fn shared(&self) -> u64 {
        self.shared.load(Acquire)
    }
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        self.shared.compare_exchange(from, to, AcqRel, Acquire).map(|_| ())
    }
}

/// The storm on the protocol alone, so that nothing is freed: whether a value was destroyed early, twice or never.
#[test]
fn the_twin_that_counts_in_two_steps_is_caught() {
    let is_wrong = || {
        let parts = InTwoSteps {
            guard: AtomicU64::new(OPEN),
            shared: AtomicU64::new(protocol::BIAS + 1),
            slot: AtomicI64::new(0),
        };
        let (early, destroyed, start) = (AtomicUsize::new(0), AtomicUsize::new(0), Barrier::new(THREADS + 1));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                assert!(protocol::try_get(&parts));
                scope.spawn(|| {
                    start.wait();
                    for _ in 0..CLONES {
                        let cloned = protocol::try_get(&parts);
                        early.fetch_add(usize::from(!cloned || destroyed.load(Relaxed) > 0), Relaxed);
                        destroyed.fetch_add(usize::from(cloned && protocol::put(&parts)), Relaxed);
                    }
                    destroyed.fetch_add(usize::from(protocol::put(&parts)), Relaxed);
                });
            }
            start.wait();
            assert_eq!((protocol::kill(&parts), parts.guard.load(Relaxed)), (Ok(true), SHUT));
            destroyed.fetch_add(usize::from(protocol::put_shared(&parts)), Relaxed);
        });
        early.into_inner() > 0 || destroyed.into_inner() != 1
    };
    assert!((0..100_000).any(|_| is_wrong()), "the storm does not catch its twin");
}
