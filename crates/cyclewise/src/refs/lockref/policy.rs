//! What an operation does when the word has changed under it or is locked: try again, wait, or queue for the lock.
//!
//! The path that succeeds at once asks nothing of a policy, so a policy costs those who contend only.

use crate::lock::{NoRelax, Relax};
use core::fmt;
use core::marker::PhantomData;

/// How many tries in vain are enough: Linux 893a7d32e8e0 found 15 to 100 alike on `ThunderX2`, 200 and 500 worse.
pub const TRIES: u32 = 100;

/// What an operation does between tries, and when it stops trying.
///
/// A policy belongs to one [`LockRef`](super::LockRef) and is told what happens there. It may count that, and decide by
/// it; whatever it says, counts stay right. Its functions run between accesses to the word, and [`lock_acquired`](Self::lock_acquired)
/// under the lock: none of them may wait for the `LockRef` it belongs to.
///
/// # Panics
/// Each may panic, and so may its [`Relax`]. That leaves the operation with the lock free, and the count as it was; or, where
/// a relax panics in its drop, as the operation has left it.
pub trait Policy {
    /// What passes the time between a try in vain and the next look.
    type Relax: Relax;

    /// After how many tries in vain an operation queues for the lock. The first try is always made. Asked once after each
    /// that was in vain, an exchange that failed or a look at a lock that was held.
    fn limit(&self) -> u32 {
        TRIES
    }

    /// Asked where the word is locked: whether to look again, which counts as a try in vain. Otherwise it queues.
    fn retry_when_locked(&self) -> bool {
        false
    }

    /// Called by an operation that is about to queue.
    fn queueing(&self) {}

    /// Called under the lock by an operation that has queued for it. `spent`: it had tried as often as it may.
    fn lock_acquired(&self, spent: bool) {
        let _ = spent;
    }

    /// Called between each look and the exchange that follows it: for those who count or disturb.
    #[inline(always)]
    fn before_exchange(&self) {}
}

/// Linux's policy: so many tries, nothing between them unless asked for, and no way back while the lock is fought for.
///
/// Who finds the word locked queues at once. So it is unlocked again only when the queue is empty, and threads that come
/// back faster than a queue serves them keep it full, even where exchanges would serve them: once contended, it may never
/// leave the lock. [`Adaptive`](super::Adaptive) does.
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
    /// The policy of this `R` and `LIMIT`. Where they are the defaults, [`new`](Bounded::new) needs no type.
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
