//! The library's lockref: bounded tries, then the lock, and a way back.
//!
//! An operation that finds the lock held looks again while the policy is open, and queues while it is not. Each turn in
//! the queue tells the policy how many others waited: when few did for a while, it opens.
//!
//! # References
//! `cyclewise::refs::lockref::Adaptive`, and its `update`.
//!
//! # Limits
//! What the policy counts is in a line of its own here, and beside the word there.

use super::lock::queue::{LOCK, Lock};
use super::{After, LOW, Memory, Start, low, start};
use crate::engine::{ALL, Backoff, Cpu, Line};
use crate::workload::{Job, Relax};

/// The library's limit, where the job has none.
const TRIES: u32 = 100;

#[derive(Clone)]
struct Shared {
    lock: Lock,
    /// In the low half how many wait, in the high half how many turns in a row were calm.
    policy: Line,
    limit: u32,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

const CALM_SHIFT: u32 = 32;
/// What is added to a count to take one away.
const LESS: u64 = LOW;

pub(super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let limit = job.retry_limit.unwrap_or(TRIES).max(1);
    let lock = Lock::new(job, memory, 1);
    let word = lock.word;
    let shared = Shared {
        lock,
        policy: memory.line(dwell(limit) << CALM_SHIFT),
        limit,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    (start(shared, body), Box::new(move |_| vec![low(word, 1)]))
}

/// How many calm turns in a row it takes to open.
fn dwell(limit: u32) -> u64 {
    u64::from((limit / 2).max(64))
}

impl Shared {
    async fn change(&self, cpu: &Cpu, by: u64) {
        let word = self.lock.word;
        let exchange = |found: u64| cpu.cas(word, ALL, found, (found + by) & LOW);
        let mut tries = 0;
        let found = cpu.load_to_write(word).await;
        if found & LOCK == 0 {
            if exchange(found).await.is_ok() {
                return cpu.won();
            }
            tries = 1;
        }
        let mut backoff = Backoff::new(self.relax);
        let spent = loop {
            if tries > 0 {
                cpu.retried();
                if tries >= self.limit {
                    break true;
                }
                backoff.relax(cpu);
            }
            let found = cpu.load_to_write(word).await;
            if found & LOCK == 0 {
                if exchange(found).await.is_ok() {
                    return cpu.won();
                }
            } else if cpu.load(self.policy).await >> CALM_SHIFT < dwell(self.limit) {
                break false;
            }
            tries += 1;
        };
        self.change_locked(cpu, by, spent).await;
    }

    async fn change_locked(&self, cpu: &Cpu, by: u64, spent: bool) {
        let word = self.lock.word;
        if spent || !self.lock.try_lock(cpu).await {
            cpu.add(self.policy, 1).await;
            self.lock.lock(cpu).await;
            self.turn(cpu, spent).await;
        }
        let count = cpu.load_to_write(word).await;
        cpu.store(word, LOW, count + by).await;
        self.lock.unlock(cpu).await;
        cpu.fell_back();
    }

    /// Tells the policy of a turn in the queue.
    async fn turn(&self, cpu: &Cpu, spent: bool) {
        let found = cpu.add(self.policy, u64::MAX).await;
        let (calm, others) = (found >> CALM_SHIFT, (found & LOW) - 1);
        let calm = if spent || others > u64::from(self.limit / 4) {
            0
        } else {
            dwell(self.limit).min(calm + 1)
        };
        cpu.store(self.policy, !LOW, calm << CALM_SHIFT).await;
    }
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        shared.change(&cpu, 1).await;
        cpu.work(shared.critical);
        shared.change(&cpu, LESS).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}
