//! Waiting for a lock's holder, which usually means that it was preempted.
//!
//! # Priorities
//! A waiter spins for about as long as the holder's work takes, and then sleeps by futex(2), each time twice as long,
//! up to 5 ms. So a thread of a real-time policy that waits for a thread of lower priority leaves it the CPU that both are on.
//! sched_yield would not do: it runs the next thread of the same priority, and returns at once if there is none.
//! There is no priority inheritance: a third thread of a priority between the two may keep both waiting.
//!
//! # Forks
//! A wait for a thread that a fork left behind lasts until the [`Backoff`]'s limit; its users avoid such waits.

use crate::sys::futex::{self, Moment};
use core::hint::spin_loop;
use core::sync::atomic::AtomicU32;

/// How often to spin before sleeping: about a microsecond, longer than the holder's work takes.
const SPINS: u32 = 100;
const SHORTEST_NS: u64 = 20_000; // less than a timer's slack of 50 µs (prctl, PR_SET_TIMERSLACK)
const LONGEST_NS: u64 = 5_000_000; // the longest delay if there is no wake

pub(super) struct Backoff {
    spins: u32,
    sleep_ns: u64,
    limit_ns: u64,
    until: Option<Moment>,
}

impl Backoff {
    pub(super) fn unlimited() -> Self {
        Self::with_limit_ns(u64::MAX)
    }

    /// With this limit, counted from the first sleep.
    pub(super) fn with_limit_ns(limit_ns: u64) -> Self {
        Self {
            spins: 0,
            sleep_ns: SHORTEST_NS,
            limit_ns,
            until: None,
        }
    }

    /// Waits for a moment; false once the limit has passed.
    pub(super) fn wait(&mut self) -> bool {
        // Never changed, so the sleep lasts until its deadline.
        static UNCHANGED: AtomicU32 = AtomicU32::new(0);
        if self.is_spinning() {
            return true;
        }
        self.sleep(&UNCHANGED, 0)
    }

    /// Spins once and returns true; false when it is time to sleep.
    pub(super) fn is_spinning(&mut self) -> bool {
        if self.spins == SPINS {
            return false;
        }
        self.spins += 1;
        spin_loop();
        true
    }

    /// Sleeps while the word is `expected`, until woken or for a moment; false once the limit has passed.
    pub(super) fn sleep(&mut self, word: &AtomicU32, expected: u32) -> bool {
        let until = *self.until.get_or_insert_with(|| Moment::after_ns(self.limit_ns));
        let deadline = Moment::after_ns(self.sleep_ns);
        self.sleep_ns = (self.sleep_ns * 2).min(LONGEST_NS);
        futex::wait(word.as_ptr(), expected, Some(deadline));
        Moment::after_ns(0) < until
    }
}

/// Wakes the threads that sleep on the word.
pub(super) fn wake(word: &AtomicU32) {
    futex::wake(word.as_ptr());
}
