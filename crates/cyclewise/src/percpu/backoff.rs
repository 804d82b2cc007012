//! Waiting for a thread that has what another wants, which happens when that thread was preempted in the middle.
//!
//! # Priorities
//! A waiter spins for about as long as what it waits for takes, and then sleeps by futex(2), each time twice as long,
//! and for 5 ms at most. So a thread of a real-time policy that waits for one of lower priority leaves it the CPU that both are on.
//! With sched_yield it would not: that goes to the next thread of the same priority, and where there is none it returns at once.
//! No priority is lent to whoever is waited for: a third thread between the two may keep both waiting.
//!
//! # Forks
//! Who waits in a child of a fork for a thread that the child does not have waits until [`Backoff`] ends, where that
//! has an end; see who uses it for what happens before.

#[cfg(all(target_os = "linux", not(loom)))]
use crate::sys::futex::{self, Moment};
use core::hint::spin_loop;
use core::sync::atomic::AtomicU32;

/// How often to look before sleeping: about a microsecond, and what is waited for takes less.
const SPINS: u32 = 100;
#[cfg(all(target_os = "linux", not(loom)))]
const SHORTEST_NS: u64 = 20_000; // less than a timer's slack of 50 µs (prctl, PR_SET_TIMERSLACK)
#[cfg(all(target_os = "linux", not(loom)))]
const LONGEST_NS: u64 = 5_000_000; // what it costs at most that a wake was missed, or that there is none

/// How long somebody has waited, and what to do next.
pub(super) struct Backoff {
    looks: u32,
    #[cfg(all(target_os = "linux", not(loom)))]
    sleep_ns: u64,
    #[cfg(all(target_os = "linux", not(loom)))]
    limit_ns: u64,
    #[cfg(all(target_os = "linux", not(loom)))]
    until: Option<Moment>,
}

impl Backoff {
    /// Without end.
    pub(super) fn unlimited() -> Self {
        Self::with_limit_ns(u64::MAX)
    }

    /// For so long from the first sleep on.
    pub(super) fn with_limit_ns(limit_ns: u64) -> Self {
        #[cfg(not(all(target_os = "linux", not(loom))))]
        let _ = limit_ns;
        Self {
            looks: 0,
            #[cfg(all(target_os = "linux", not(loom)))]
            sleep_ns: SHORTEST_NS,
            #[cfg(all(target_os = "linux", not(loom)))]
            limit_ns,
            #[cfg(all(target_os = "linux", not(loom)))]
            until: None,
        }
    }

    /// Waits for a moment; false where it was waited for long enough.
    pub(super) fn wait(&mut self) -> bool {
        // Nobody changes it, so it is slept until the deadline.
        static NOBODYS: AtomicU32 = AtomicU32::new(0);
        if self.is_spinning() {
            return true;
        }
        self.sleep(&NOBODYS, 0)
    }

    /// Spins, and says so, as long as that is called for.
    pub(super) fn is_spinning(&mut self) -> bool {
        if self.looks == SPINS {
            return false;
        }
        self.looks += 1;
        spin_loop();
        true
    }

    /// Sleeps while the word is `expected`, until woken, or for a moment; false where it was waited for long enough.
    #[cfg(all(target_os = "linux", not(loom)))]
    pub(super) fn sleep(&mut self, word: &AtomicU32, expected: u32) -> bool {
        let until = *self.until.get_or_insert_with(|| Moment::after_ns(self.limit_ns));
        let deadline = Moment::after_ns(self.sleep_ns);
        self.sleep_ns = (self.sleep_ns * 2).min(LONGEST_NS);
        futex::wait(word.as_ptr(), expected, Some(deadline));
        Moment::after_ns(0) < until
    }

    /// There is neither a clock nor a futex: another thread runs.
    #[cfg(not(all(target_os = "linux", not(loom))))]
    pub(super) fn sleep(&mut self, _: &AtomicU32, _: u32) -> bool {
        crate::sys::thread::nap();
        true
    }
}

/// Wakes whoever sleeps on the word.
pub(super) fn wake(word: &AtomicU32) {
    #[cfg(all(target_os = "linux", not(loom)))]
    futex::wake(word.as_ptr());
    #[cfg(not(all(target_os = "linux", not(loom))))]
    let _ = word;
}
