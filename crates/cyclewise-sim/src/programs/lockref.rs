//! The kernel's lockref: a count and a lock in one line; exchanges change the count while the lock is free.
//!
//! An operation is a get and a put. Each loads the line and tries to exchange it while the lock is free. After too many failed
//! tries, or if the lock is held, it takes the lock and changes the count under it.
//!
//! # References
//! Linux 5.2, `lib/lockref.c`; 893a7d32e8e0, the retry limit. `cyclewise::refs::lockref::Bounded`.

use super::queued::{LOCK, Queued};
use super::setup::{Expected, LOW, Memory, Start, low, start};
use crate::engine::{ALL, Backoff, Cpu};
use crate::workload::{Job, Relax, Workload};

/// When an operation takes the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    /// If another thread holds it.
    Unbounded,
    /// If another thread holds it, or after this many failed tries.
    Bounded(u32),
    /// Always.
    Locked,
}

impl Policy {
    /// The policy of a job.
    pub(super) fn of(job: &Job) -> Self {
        match job.workload {
            Workload::LockrefUnbounded => Self::Unbounded,
            Workload::LockrefLocked | Workload::OpenReadCloseQueued | Workload::OpenReadCloseThreadsQueued => {
                Self::Locked
            }
            _ => job.retry_limit.map_or(Self::Unbounded, Self::Bounded),
        }
    }
}

/// A lockref.
#[derive(Clone)]
pub(super) struct LockRef {
    pub(super) lock: Queued,
    policy: Policy,
    relax: Relax,
}

/// Added to the count to decrement it.
const MINUS_ONE: u64 = LOW;

impl LockRef {
    pub(super) fn new(job: &Job, memory: &mut Memory, count: u64) -> Self {
        Self {
            lock: Queued::new(job, memory, count),
            policy: Policy::of(job),
            relax: job.relax,
        }
    }

    /// `lockref_get`.
    pub(super) async fn get(&self, cpu: &Cpu) {
        self.change(cpu, 1).await;
    }

    /// `lockref_put_return` of a reference that is not the last.
    pub(super) async fn put(&self, cpu: &Cpu) {
        self.change(cpu, MINUS_ONE).await;
    }

    async fn change(&self, cpu: &Cpu, by: u64) {
        if !self.exchange(cpu, by).await {
            self.change_locked(cpu, by).await;
        }
    }

    /// `CMPXCHG_LOOP`; returns whether it succeeded.
    async fn exchange(&self, cpu: &Cpu, by: u64) -> bool {
        let mut left = match self.policy {
            Policy::Unbounded => u32::MAX,
            Policy::Bounded(limit) => limit.max(1),
            Policy::Locked => return false,
        };
        let word = self.lock.word;
        let mut backoff = Backoff::new(self.relax);
        let mut found = cpu.load_to_write(word, ALL).await;
        while found & LOCK == 0 {
            match cpu.cas(word, ALL, found, (found + by) & LOW).await {
                Ok(_) => {
                    cpu.won();
                    return true;
                }
                Err(now) => found = now,
            }
            cpu.retried();
            left -= u32::from(self.policy != Policy::Unbounded);
            if left == 0 {
                return false;
            }
            backoff.relax(cpu);
        }
        false
    }

    async fn change_locked(&self, cpu: &Cpu, by: u64) {
        let word = self.lock.word;
        self.lock.lock(cpu).await;
        let count = cpu.load_to_write(word, LOW).await;
        cpu.store(word, LOW, count + by).await;
        self.lock.unlock(cpu).await;
        cpu.fell_back();
    }
}

#[derive(Clone)]
struct GetPut {
    lockref: LockRef,
    critical: u32,
    parallel: u32,
}

pub(super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let state = GetPut {
        lockref: LockRef::new(job, memory, 1),
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    let word = state.lockref.lock.word;
    (start(state, body), Box::new(move |_| vec![low(word, 1)]))
}

async fn body(cpu: Cpu, state: GetPut) {
    while cpu.again() {
        cpu.begin();
        state.lockref.get(&cpu).await;
        cpu.work(state.critical);
        state.lockref.put(&cpu).await;
        cpu.end();
        cpu.work(state.parallel);
    }
}
