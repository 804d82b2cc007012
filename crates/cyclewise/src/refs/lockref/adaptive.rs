//! A policy that goes to the lock under pressure, and back to exchanges when the pressure has fallen.
//!
//! # Why operations must return to exchanges
//! An operation that finds the word locked and queues makes the queue longer, and while there is a queue the word is
//! locked. A turn in the queue costs more than an exchange: the hand-over, the count, the unlock. So there is a range
//! of loads that exchanges would serve easily but that keep a queue alive for ever, once something has started one.
//! Linux's lockref has this weakness.
//!
//! # States
//! *Open*: an operation that finds the word locked waits for it, within its tries, and then goes on exchanging. Nobody
//! joins a queue while it has tries left, so a queue drains.
//!
//! *Queueing*: an operation that finds the word locked queues at once, as in Linux.
//!
//! # Thresholds
//! Both have the same unit, the number of competing operations.
//! - An exchange fails because another succeeded. An operation that has failed as often as it may, or has found the
//!   lock held so often, takes the lock, and from then on the policy is *queueing*.
//! - Each holder knows how many others are in the queue. Among so many an exchange would fail about as often: 28
//!   threads on one file made 25 retries for a success (J. Glauber, 2019, `ThunderX2`). After `DWELL` turns in a row
//!   that each left at most a quarter of the limit waiting the policy is *open* again.
//!
//! The hysteresis is the gap between the two, a factor of four, and the run of turns. A load between the thresholds
//! stays where it is. A misjudged load changes the state at most once in `DWELL` turns, so that the cost of a trial, at
//! most the limit in failures for each thread, is spread over that many turns.
//!
//! # Invariants
//! 1. Only the lock's holder writes `calm`, so plain stores lose nothing.
//! 2. `waiting` is at most the number of threads, unless other code calls the policy: each counted thread is in one
//!    call that ends by uncounting it.
//! 3. Both decide how an operation waits, never what it does.
//!
//! # Cost
//! 8 bytes beside the word. An operation that succeeds at once touches neither field; one that queues adds two
//! read-modify-writes of a cache line that it needs anyway.

use super::policy::{Policy, TRIES};
use crate::lock::{NoRelax, Relax};
use crate::primitive::{AtomicU32, const_fn};
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;

/// Bounded tries, then the lock, and a return to exchanges: the default policy of a [`LockRef`](super::LockRef).
///
/// `R` waits between two tries, of which there are at most `LIMIT`. Under pressure an operation that finds the word
/// locked queues for the lock at once; after the queue has been short for a while, it waits for an exchange again.
/// Linux's lockref, which is [`Bounded`](super::Bounded), never returns.
///
/// # Examples
/// ```
/// use cyclewise::lock::Pause;
/// use cyclewise::refs::LockRef;
/// use cyclewise::refs::lockref::Adaptive;
///
/// // At most 20 tries, with a PAUSE between them.
/// let entry = LockRef::with_policy(1, "name", Adaptive::<Pause, 20>::tuned());
/// entry.get();
/// assert_eq!(entry.count(), 2);
/// ```
#[repr(C)] // C programs have a static initializer.
pub struct Adaptive<R = NoRelax, const LIMIT: u32 = TRIES> {
    /// The number of operations that queue for the lock.
    waiting: AtomicU32,
    /// The number of last turns in a row that left few waiting, at most `DWELL`; at `DWELL` the policy is *open*.
    calm: AtomicU32,
    relax: PhantomData<fn() -> R>,
}

impl Adaptive {
    const_fn! {
        /// An open policy.
        #[must_use]
        pub fn new() -> Self {
            Self::tuned()
        }
    }
}

impl<R, const LIMIT: u32> Adaptive<R, LIMIT> {
    /// At most so many waiters are few.
    pub(super) const FEW: u32 = LIMIT / 4;

    /// The number of calm turns in a row after which the policy opens. Twice as many as may wait meanwhile, so that the
    /// last operations of a burst do not look calm; and at least 64 for small limits: a guess.
    pub(super) const DWELL: u32 = if LIMIT / 2 > 64 { LIMIT / 2 } else { 64 };

    const_fn! {
        /// An open policy with this `R` and `LIMIT`. For the defaults, [`new`](Adaptive::new) needs no type.
        #[must_use]
        pub fn tuned() -> Self {
            Self {
                waiting: AtomicU32::new(0),
                calm: AtomicU32::new(Self::DWELL),
                relax: PhantomData,
            }
        }
    }

    /// Whether the policy is open at some moment: operations that find the word locked wait for exchanges instead of
    /// queueing.
    pub fn is_open(&self) -> bool {
        // Relaxed, here and below: Invariant 3.
        self.calm.load(Relaxed) >= Self::DWELL
    }
}

impl<R, const LIMIT: u32> Default for Adaptive<R, LIMIT> {
    fn default() -> Self {
        Self::tuned()
    }
}

impl<R, const LIMIT: u32> fmt::Debug for Adaptive<R, LIMIT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Adaptive");
        f.field("limit", &LIMIT).field("is_open", &self.is_open()).finish()
    }
}

impl<R: Relax, const LIMIT: u32> Policy for Adaptive<R, LIMIT> {
    type Relax = R;

    fn limit(&self) -> u32 {
        LIMIT
    }

    fn retry_when_locked(&self) -> bool {
        self.is_open()
    }

    fn queueing(&self) {
        self.waiting.fetch_add(1, Relaxed);
    }

    fn lock_acquired(&self, spent: bool) {
        // Wraps: other code may call this without `queueing`; then the measure is wrong, and nothing else (Invariant
        // 3).
        let others = self.waiting.fetch_sub(1, Relaxed).wrapping_sub(1);
        let calm = if spent || others > Self::FEW {
            0
        } else {
            Self::DWELL.min(self.calm.load(Relaxed) + 1)
        };
        // Not a read-modify-write: Invariant 1.
        self.calm.store(calm, Relaxed);
    }
}
