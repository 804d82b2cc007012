//! A policy that counts retries, and one whose limit is a number.
//!
//! A policy is called after a failed try and when an operation queues, never when the first try succeeds. So counting
//! does not change the fast path.

use cyclewise::lock::Relax;
use cyclewise::refs::lockref::Policy;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::AddAssign;

/// A thread's operations that did not succeed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Retries {
    /// Failed tries: exchanges that failed, and reads of a held lock.
    pub(super) failed: u64,
    /// Turns in the lock's queue.
    pub(super) queued: u64,
}

impl AddAssign for Retries {
    fn add_assign(&mut self, other: Self) {
        self.failed += other.failed;
        self.queued += other.queued;
    }
}

thread_local! {
    static RETRIES: Cell<Retries> = const { Cell::new(Retries { failed: 0, queued: 0 }) };
}

/// This thread's counts since the last call.
pub(super) fn taken() -> Retries {
    RETRIES.take()
}

fn count(failed: u64, queued: u64) {
    let mut retries = RETRIES.get();
    retries += Retries { failed, queued };
    RETRIES.set(retries);
}

#[derive(Default)]
pub(super) struct Counted<P>(pub(super) P);

impl<P: Policy> Policy for Counted<P> {
    type Relax = P::Relax;

    /// Called once after each failed try, as the trait promises.
    fn limit(&self) -> u32 {
        count(1, 0);
        self.0.limit()
    }

    fn retry_when_locked(&self) -> bool {
        self.0.retry_when_locked()
    }

    fn queueing(&self) {
        self.0.queueing();
    }

    fn lock_acquired(&self, spent: bool) {
        count(0, 1);
        self.0.lock_acquired(spent);
    }
}

/// Linux's policy with a limit given at run time.
pub(super) struct Limit<R> {
    limit: u32,
    relax: PhantomData<fn() -> R>,
}

impl<R> Limit<R> {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit,
            relax: PhantomData,
        }
    }
}

impl<R: Relax> Policy for Limit<R> {
    type Relax = R;

    fn limit(&self) -> u32 {
        self.limit
    }
}
