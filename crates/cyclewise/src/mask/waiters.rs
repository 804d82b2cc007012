//! Waiting for an owner, asleep, and waking the waiters.
//!
//! # States
//! The word is 0: no thread sleeps. 1: one may.
//!
//! # Invariants
//! 1. A waiter stores 1, tries again, and sleeps while the word is 1. A releasing thread reads the word, and if it is 1 stores 0;
//!    then it frees the resource, and wakes all if it read 1.
//! 2. The read is before the store that frees the resource, as whoever takes the resource next may free the word's memory. So
//!    the read may miss a 1 stored at the same moment, and no sleep is longer than [`NAP_NS`]. A fence would double the cost of
//!    releasing and close that gap for nobody.
//! 3. A wait with a limit ends: at the limit, or after [`ROUNDS`] if a filter refuses futex(2) or the clock.
//!
//! # Priorities
//! A sleeper leaves the CPU to an owner of lower priority; a waiter that spins or calls sched_yield under SCHED_FIFO
//! does not. Priority is not inherited: a thread of a priority between the two can keep the owner off the CPU, and so
//! the waiter.
//!
//! # Signal handlers
//! Handlers wait too, so this code makes only memory accesses and two system calls: futex(2) and clock_gettime(2).

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Tries before the first sleep: the owner may be on another CPU, and sections are short.
const SPINS: u32 = 100; // A guess: some hundred nanoseconds, less than a context switch.
/// The longest sleep between two tries (Invariant 2).
const NAP_NS: u64 = 1_000_000;
/// The most tries of a wait with a limit (Invariant 3).
const ROUNDS: u32 = 1 << 20; // About a second of refused system calls.

/// Whether any thread sleeps.
#[derive(Debug, Default)]
pub(super) struct Waiters(AtomicU32);

impl Waiters {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Calls `take` until it returns `Some`; `None` after `limit_ns` nanoseconds.
    ///
    /// Ordering: that of `take`.
    #[cold]
    pub(super) fn wait<R>(&self, limit_ns: u64, mut take: impl FnMut() -> Option<R>) -> Option<R> {
        for _ in 0..SPINS {
            if let Some(taken) = take() {
                return Some(taken);
            }
            core::hint::spin_loop();
        }
        let limit = Limit::after_ns(limit_ns);
        for _ in 0..ROUNDS {
            // Relaxed: pairs with the load in `wake`, within the limits of Invariant 2.
            self.0.store(1, Relaxed);
            if let Some(taken) = take() {
                return Some(taken);
            }
            if limit.has_passed() {
                return None;
            }
            self.nap();
        }
        None
    }

    /// Frees the resource by `free`, and wakes the sleepers. Nothing of `self` is used after `free`. Cost without sleepers: a load
    /// and a branch.
    #[inline(always)]
    pub(super) fn wake_after(&self, free: impl FnOnce()) {
        // Relaxed: pairs with the store in `wait`, within the limits of Invariant 2.
        if self.0.load(Relaxed) == 0 {
            free();
        } else {
            self.wake_slow(free);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_slow(&self, free: impl FnOnce()) {
        // Before waking: later waiters store 1 again.
        self.0.store(0, Relaxed);
        let word = self.0.as_ptr();
        free();
        // The kernel compares the address and does not read there.
        crate::sys::futex::wake(word);
    }

    fn nap(&self) {
        use crate::sys::futex::{Moment, wait};
        wait(self.0.as_ptr(), 1, Some(Moment::after_ns(NAP_NS)));
    }
}

/// When a wait is over.
struct Limit(crate::sys::futex::Moment);

impl Limit {
    fn after_ns(ns: u64) -> Self {
        Self(crate::sys::futex::Moment::after_ns(ns))
    }

    fn has_passed(&self) -> bool {
        Self::after_ns(0).0 >= self.0
    }
}
