//! Policies that count, and one whose limit is a number.
//!
//! A policy is asked after a try in vain, and when an operation queues: never where the first try succeeds. So what counts
//! there changes nothing of the path that the others measure.

use cyclewise::lock::Relax;
use cyclewise::refs::lockref::Policy;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::AddAssign;

/// What a thread's operations did beside succeeding at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Tries in vain: exchanges that failed, and looks at a lock that was held.
    pub(super) vain: u64,
    /// Turns in the lock's queue.
    pub(super) queued: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.vain += other.vain;
        self.queued += other.queued;
    }
}

thread_local! {
    static TALLY: Cell<Tally> = const { Cell::new(Tally { vain: 0, queued: 0 }) };
}

/// What this thread has counted since the last look.
pub(super) fn taken() -> Tally {
    TALLY.take()
}

fn count(vain: u64, queued: u64) {
    let mut tally = TALLY.get();
    tally += Tally { vain, queued };
    TALLY.set(tally);
}

/// `P`, and it counts.
#[derive(Default)]
pub(super) struct Tallied<P>(pub(super) P);

impl<P: Policy> Policy for Tallied<P> {
    type Relax = P::Relax;

    /// Asked once after each try in vain, as the trait promises.
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

/// Linux's policy, its limit a number.
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
