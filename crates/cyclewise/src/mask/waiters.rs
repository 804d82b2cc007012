//! Waiting for whoever has something, asleep, and waking who waits.
//!
//! # States
//! The word is 0: nobody sleeps. 1: somebody may.
//!
//! # Invariants
//! 1. Who waits stores 1, tries again, and sleeps while the word is 1. Who gives back makes free what was waited for, looks
//!    at the word, and where that is 1 stores 0 and wakes all.
//! 2. Nothing orders that look behind the store that makes free: a fence there would double the cost of giving back. So the
//!    look may miss a 1 that is stored at the same moment, and no sleep is longer than [`NAP_NS`].
//! 3. A wait with a limit ends: at the limit, or after [`ROUNDS`] where a filter refuses futex(2) or the clock.
//!
//! # Priorities
//! A sleeper leaves the CPU to a holder of a lower priority; a waiter that spins or calls sched_yield under SCHED_FIFO does
//! not. No priority is inherited: a thread between the two in priority can keep the holder off the CPU, and so the waiter.
//!
//! # Signal handlers
//! Handlers wait too, so nothing here may be more than a look or a system call: futex(2) and clock_gettime(2).

use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

/// Tries before the first sleep: the holder may be on another processor, and holds for little.
const SPINS: u32 = 100; // A guess: some hundred nanoseconds, less than a switch.
/// The longest sleep between two tries (Invariant 2).
#[cfg_attr(loom, expect(dead_code, reason = "there is no futex under loom"))]
const NAP_NS: u64 = 1_000_000;
/// The most tries of a wait with a limit (Invariant 3).
const ROUNDS: u32 = 1 << 20; // A second of refused system calls, about.

/// Who sleeps.
#[derive(Debug, Default)]
pub(super) struct Waiters(AtomicU32);

impl Waiters {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// Calls `take` until that says something; `None` where `limit_ns` nanoseconds have passed.
    ///
    /// Ordering: none but that of `take`.
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
            // Relaxed: pairs with the load in `wake` as far as Invariant 2 says.
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

    /// Wakes who sleeps, after what they wait for was made free. Cost where nobody does: a load and a branch.
    #[inline(always)]
    pub(super) fn wake(&self) {
        // Relaxed: pairs with the store in `wait` as far as Invariant 2 says.
        if self.0.load(Relaxed) != 0 {
            self.wake_slow();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_slow(&self) {
        // Before waking: who begins to wait from here on stores 1 again.
        self.0.store(0, Relaxed);
        #[cfg(not(loom))]
        crate::sys::futex::wake(self.0.as_ptr());
    }

    #[cfg(not(loom))]
    fn nap(&self) {
        use crate::sys::futex::{Moment, wait};
        wait(self.0.as_ptr(), 1, Some(Moment::after_ns(NAP_NS)));
    }

    #[cfg(loom)]
    fn nap(&self) {
        crate::sys::thread::nap();
    }
}

/// When a wait is over.
#[cfg(not(loom))]
struct Limit(crate::sys::futex::Moment);

#[cfg(not(loom))]
impl Limit {
    fn after_ns(ns: u64) -> Self {
        Self(crate::sys::futex::Moment::after_ns(ns))
    }

    fn has_passed(&self) -> bool {
        Self::after_ns(0).0 >= self.0
    }
}

/// Under loom, which has no clock, only the rounds count.
#[cfg(loom)]
struct Limit;

#[cfg(loom)]
impl Limit {
    fn after_ns(_: u64) -> Self {
        Self
    }

    fn has_passed(&self) -> bool {
        false
    }
}
