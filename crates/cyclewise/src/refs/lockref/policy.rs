//! What an operation does when the word has changed or is locked: try again, wait, or queue for the lock.
//!
//! The path that succeeds at once asks a policy nothing, so only contention pays for a policy.

use crate::lock::{NoRelax, Relax};
use core::fmt;
use core::marker::PhantomData;

/// The default number of failed tries: Linux 893a7d32e8e0 found 15 to 100 alike on `ThunderX2`, 200 and 500 worse.
pub const TRIES: u32 = 100;

/// The behaviour of operations under contention.
///
/// A policy belongs to one [`LockRef`](super::LockRef), which calls it at each step of a contended operation. It may
/// count these steps and decide by them; whatever it returns, counts stay right. Its functions run between accesses to
/// the word, and [`lock_acquired`](Self::lock_acquired) under the lock: none of them may wait for its own `LockRef`.
///
/// # Panics
/// Each may panic, and so may its [`Relax`]. A panic leaves the lock free and the count unchanged; if a relax panics in
/// its drop, the operation is complete.
pub trait Policy {
    /// The wait between a failed try and the next.
    type Relax: Relax;

    /// The number of failed tries after which an operation queues for the lock. The first try is always made. Called
    /// once after each failure, an exchange that failed or a check that found the lock held.
    fn limit(&self) -> u32 {
        TRIES
    }

    /// Called if the word is locked: whether to check again, which counts as a failed try. Otherwise the operation
    /// queues.
    fn retry_when_locked(&self) -> bool {
        false
    }

    /// Called before an operation queues for the lock.
    fn queueing(&self) {}

    /// Called under the lock by an operation that has queued for it. `spent`: its tries were exhausted.
    fn lock_acquired(&self, spent: bool) {
        let _ = spent;
    }

    /// Called between each load and the exchange that follows it: for policies that count or perturb.
    #[inline(always)]
    fn before_exchange(&self) {}
}

/// Linux's policy: a bounded number of tries, no wait between them by default, and no return to exchanges while the
/// lock is contended.
///
/// An operation that finds the word locked queues at once. So the word is unlocked only when the queue is empty, and
/// threads that return faster than a queue serves them keep it full, even if exchanges would serve them: once
/// contended, it may never leave the lock. [`Adaptive`](super::Adaptive) does.
///
/// # Examples
/// ```
/// use cyclewise::refs::LockRef;
/// use cyclewise::refs::lockref::Bounded;
///
/// let entry = LockRef::with_policy(1, "name", Bounded::new());
/// entry.get();
/// assert!(entry.put_or_lock().is_none(), "a reference is left");
/// ```
#[derive(Clone, Copy)]
pub struct Bounded<R = NoRelax, const LIMIT: u32 = TRIES>(PhantomData<fn() -> R>);

impl Bounded {
    /// The policy; it has no state.
    #[must_use]
    pub const fn new() -> Self {
        Self::tuned()
    }
}

impl<R, const LIMIT: u32> Bounded<R, LIMIT> {
    /// The policy with this `R` and `LIMIT`. For the defaults, [`new`](Bounded::new) needs no type.
    #[must_use]
    pub const fn tuned() -> Self {
        Self(PhantomData)
    }
}

impl<R, const LIMIT: u32> Default for Bounded<R, LIMIT> {
    fn default() -> Self {
        Self::tuned()
    }
}

impl<R, const LIMIT: u32> fmt::Debug for Bounded<R, LIMIT> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").field("limit", &LIMIT).finish()
    }
}

impl<R: Relax, const LIMIT: u32> Policy for Bounded<R, LIMIT> {
    type Relax = R;

    fn limit(&self) -> u32 {
        LIMIT
    }
}
