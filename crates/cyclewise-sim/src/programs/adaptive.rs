//! The library's lockref: a bounded number of tries, then the lock, with a return to exchanges.
//!
//! An operation that finds the lock held tries again while the policy is open, and queues while it is closed. Each turn in the
//! queue reports to the policy how many others waited; after enough calm turns in a row the policy opens.
//!
//! # References
//! `cyclewise::refs::lockref::Adaptive`, and its `update`.
//!
//! # Limits
//! The policy's counters are on their own line in this model; in the library they are next to the word.

use super::lock::queue::{LOCK, Lock};
use super::setup::{Expected, LOW, Memory, Start, low, start};
use crate::engine::{ALL, Backoff, Cpu, LineId};
use crate::workload::{Job, Relax};

/// The library's limit, for a job without one.
const TRIES: u32 = 100;

#[derive(Clone)]
struct AdaptiveLockRef {
    lock: Lock,
    /// Low half: the number of waiters. High half: the number of calm turns in a row.
    policy: LineId,
    limit: u32,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

const CALM_SHIFT: u32 = 32;
/// Added to a count to decrement it.
const MINUS_ONE: u64 = LOW;

pub(super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let limit = job.retry_limit.unwrap_or(TRIES).max(1);
    let lock = Lock::new(job, memory, 1);
    let word = lock.word;
    let lockref = AdaptiveLockRef {
        lock,
        policy: memory.line(dwell(limit) << CALM_SHIFT),
        limit,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    (start(lockref, body), Box::new(move |_| vec![low(word, 1)]))
}

/// How many calm turns in a row open the policy.
fn dwell(limit: u32) -> u64 {
    u64::from((limit / 2).max(64))
}

impl AdaptiveLockRef {
    async fn change(&self, cpu: &Cpu, by: u64) {
        let word = self.lock.word;
        let exchange = |found: u64| cpu.cas(word, ALL, found, (found + by) & LOW);
        let mut tries = 0;
        let found = cpu.load_to_write(word, ALL).await;
        if found & LOCK == 0 {
            if exchange(found).await.is_ok() {
                return cpu.won();
            }
            tries = 1;
        }
        let mut backoff = Backoff::new(self.relax);
        let exhausted = loop {
            if tries > 0 {
                cpu.retried();
                if tries >= self.limit {
                    break true;
                }
                backoff.relax(cpu);
            }
            let found = cpu.load_to_write(word, ALL).await;
            if found & LOCK == 0 {
                if exchange(found).await.is_ok() {
                    return cpu.won();
                }
            } else if cpu.load(self.policy, ALL).await >> CALM_SHIFT < dwell(self.limit) {
                break false;
            }
            tries += 1;
        };
        self.change_locked(cpu, by, exhausted).await;
    }

    async fn change_locked(&self, cpu: &Cpu, by: u64, exhausted: bool) {
        let word = self.lock.word;
        if exhausted || !self.lock.try_lock(cpu).await {
            cpu.add_unused(self.policy, 1).await;
            self.lock.lock(cpu).await;
            self.report_turn(cpu, exhausted).await;
        }
        let count = cpu.load_to_write(word, LOW).await;
        cpu.store(word, LOW, count + by).await;
        self.lock.unlock(cpu).await;
        cpu.fell_back();
    }

    /// Reports a turn in the queue to the policy.
    async fn report_turn(&self, cpu: &Cpu, exhausted: bool) {
        let found = cpu.add(self.policy, u64::MAX).await;
        let (calm, others) = (found >> CALM_SHIFT, (found & LOW) - 1);
        let calm = if exhausted || others > u64::from(self.limit / 4) {
            0
        } else {
            dwell(self.limit).min(calm + 1)
        };
        cpu.store(self.policy, !LOW, calm << CALM_SHIFT).await;
    }
}

async fn body(cpu: Cpu, lockref: AdaptiveLockRef) {
    while cpu.again() {
        cpu.begin();
        lockref.change(&cpu, 1).await;
        cpu.work(lockref.critical);
        lockref.change(&cpu, MINUS_ONE).await;
        cpu.end();
        cpu.work(lockref.parallel);
    }
}
