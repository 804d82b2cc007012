//! A policy that goes to the lock under pressure, and back when the pressure has fallen.
//!
//! # Why there has to be a way back
//! An operation that finds the word locked and queues makes the queue longer, and while there is a queue the word is
//! locked. A turn in the queue costs more than an exchange: the hand-over, the count, the unlock. So there is a range of
//! loads that exchanges would serve easily and that yet keep a queue alive for ever, once something has started one.
//! Linux's lockref has this weakness.
//!
//! # States
//! *Open*: who finds the word locked waits for it, within its tries, and then goes on exchanging. Nobody joins a queue
//! while it has tries left, so a queue drains.
//!
//! *Queueing*: who finds the word locked queues at once, as in Linux.
//!
//! # Thresholds
//! Both are in the same unit: how many others there are.
//! - An exchange fails because somebody else's was made. Whoever has failed as often as it may, or has looked at a lock
//!   so often, takes the lock, and from there on it is *queueing*.
//! - Each holder knows how many others are in the queue. Among so many an exchange would fail about as often: 28 threads on
//!   one file made 25 retries for a success (J. Glauber, 2019, `ThunderX2`). After `DWELL` turns in a row that left at most a
//!   quarter of the limit waiting it is *open* again.
//!
//! The gap between the two, a factor of four, and the row of turns are the hysteresis. A load between the thresholds
//! stays where it is. One that the measure misjudges goes to and fro at most once in `DWELL` turns, so that what it costs
//! to find out, at most the limit in failures for each thread that tries, is spread over so many turns.
//!
//! # Invariants
//! 1. `calm` is written by the lock's holder only, so that plain stores lose nothing.
//! 2. `waiting` is at most the number of threads, unless somebody else calls the policy: each that is counted is in one
//!    call that ends by uncounting it.
//! 3. Both decide how an operation waits, never what it does.
//!
//! # Cost
//! 8 bytes beside the word. An operation that succeeds at once touches neither; one that queues adds two read-modify-writes
//! of a cache line that it needs anyway.

use super::policy::{Policy, TRIES};
use crate::lock::{NoRelax, Relax};
use crate::primitive::{AtomicU32, const_fn};
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;

/// Bounded tries, then the lock, and a way back: the policy of a [`LockRef`](super::LockRef) that names none.
///
/// `R` passes the time between two tries, of which there are at most `LIMIT`. Under pressure an operation that finds the
/// word locked queues for the lock at once; when the queue has been short for a while, it waits for its turn to exchange
/// again. Linux's lockref, which is [`Bounded`](super::Bounded), has no such way back.
pub struct Adaptive<R = NoRelax, const LIMIT: u32 = TRIES> {
    /// How many operations queue for the lock now.
    waiting: AtomicU32,
    /// How many of the last turns in a row left few waiting; at `DWELL` it stops, and is *open*.
    calm: AtomicU32,
    relax: PhantomData<fn() -> R>,
}

impl Adaptive {
    const_fn! {
        /// An open one.
        #[must_use]
        pub fn new() -> Self {
            Self::tuned()
        }
    }
}

impl<R, const LIMIT: u32> Adaptive<R, LIMIT> {
    /// So many others are few.
    pub(super) const FEW: u32 = LIMIT / 4;

    /// How many calm turns in a row it takes to open. Twice as many as may wait meanwhile, so that a crowd which comes to
    /// an end does not look calm by its last; and no less than 64, for small limits' sake: a guess.
    pub(super) const DWELL: u32 = if LIMIT / 2 > 64 { LIMIT / 2 } else { 64 };

    const_fn! {
        /// An open one, of this `R` and `LIMIT`. Where they are the defaults, [`new`](Adaptive::new) needs no type.
        #[must_use]
        pub fn tuned() -> Self {
            Self {
                waiting: AtomicU32::new(0),
                calm: AtomicU32::new(Self::DWELL),
                relax: PhantomData,
            }
        }
    }

    /// Whether it is open, as of some moment: who finds the word locked waits for exchanges instead of queueing.
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
        // Wraps: others may call this without an `arrive`, and then it is a wrong measure and no more (Invariant 3).
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
