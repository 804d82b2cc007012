//! Reference counts: a reference is taken, used for the critical work, and given back.
//!
//! `cas-full` is the kernel's `REFCOUNT_FULL` of 2017 to 2019, both ways a loop of compare-and-exchange; `refcount` the
//! library's, both ways one read-modify-write whose flags tell misuse; `inc-not-zero` a loop to take and one
//! read-modify-write to give back; `rcuref` the same promise without the loop.
//!
//! # References
//! Linux 5.1, `lib/refcount.c`; `cyclewise::refs::{refcount, rcuref}`.

use super::{After, LOW, Memory, Start, low, start};
use crate::engine::{Backoff, Cpu, Line};
use crate::workload::{Job, Relax};

#[derive(Clone)]
struct Shared {
    count: Line,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

/// A count that starts at this and comes back to it.
fn shared(job: &Job, memory: &mut Memory, first: u64) -> (Shared, After) {
    let count = memory.line(first);
    let shared = Shared {
        count,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    (shared, Box::new(move |_| vec![low(count, first)]))
}

/// The library's count is stored as one less: one reference is zero.
const ONE_LESS: u64 = 0;

pub(super) fn cas_full(job: &Job, memory: &mut Memory) -> (Start, After) {
    let (shared, after) = shared(job, memory, 1);
    (start(shared, run_cas_full), after)
}

pub(super) fn refcount(job: &Job, memory: &mut Memory) -> (Start, After) {
    let (shared, after) = shared(job, memory, ONE_LESS);
    (start(shared, run_refcount), after)
}

pub(super) fn rcuref(job: &Job, memory: &mut Memory) -> (Start, After) {
    let (shared, after) = shared(job, memory, ONE_LESS);
    (start(shared, run_rcuref), after)
}

pub(super) fn inc_not_zero(job: &Job, memory: &mut Memory) -> (Start, After) {
    let (shared, after) = shared(job, memory, 1);
    (start(shared, run_inc_not_zero), after)
}

/// Where the count is pinned.
const SATURATED: u64 = LOW;

/// `refcount_inc_not_zero` of `REFCOUNT_FULL`, and the library's: whether a reference was taken.
pub(super) async fn add_not_zero(cpu: &Cpu, line: Line, relax: Relax) -> bool {
    let mut backoff = Backoff::new(relax);
    let mut count = cpu.load_to_write(line).await & LOW;
    loop {
        if count == 0 || count == SATURATED {
            return count != 0;
        }
        match cpu.cas(line, LOW, count, count + 1).await {
            Ok(_) => {
                cpu.won();
                return true;
            }
            Err(now) => count = now & LOW,
        }
        cpu.retried();
        backoff.relax(cpu);
    }
}

/// `refcount_dec_and_test` of `REFCOUNT_FULL`: whether it was the last.
pub(super) async fn sub_and_test(cpu: &Cpu, line: Line, relax: Relax) -> bool {
    let mut backoff = Backoff::new(relax);
    let mut count = cpu.load_to_write(line).await & LOW;
    loop {
        if count == 0 || count == SATURATED {
            return false;
        }
        match cpu.cas(line, LOW, count, count - 1).await {
            Ok(_) => {
                cpu.won();
                return count == 1;
            }
            Err(now) => count = now & LOW,
        }
        cpu.retried();
        backoff.relax(cpu);
    }
}

/// One more, by one instruction; `false` where its flags tell of misuse.
pub(super) async fn inc(cpu: &Cpu, line: Line) -> bool {
    let old = cpu.add(line, 1).await & LOW;
    old < 1 << 31
}

/// One less, by one instruction: whether it was the last, as the flags say.
pub(super) async fn dec_and_test(cpu: &Cpu, line: Line) -> bool {
    // The line is 64 bits wide and the count 32, so the sum is of 64: what is above the count never counts.
    cpu.add(line, u64::MAX).await & LOW == 0
}

async fn run_cas_full(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        add_not_zero(&cpu, shared.count, shared.relax).await;
        cpu.work(shared.critical);
        sub_and_test(&cpu, shared.count, shared.relax).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}

async fn run_refcount(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        inc(&cpu, shared.count).await;
        cpu.work(shared.critical);
        dec_and_test(&cpu, shared.count).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}

async fn run_inc_not_zero(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        add_not_zero(&cpu, shared.count, shared.relax).await;
        cpu.work(shared.critical);
        // Stored as it is counted here, so the last one leaves zero.
        cpu.add(shared.count, u64::MAX).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}

/// What a dead count is put to.
const DEAD: u64 = 0xe000_0000;

async fn run_rcuref(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        if inc(&cpu, shared.count).await {
            cpu.work(shared.critical);
        }
        // The last one, or of a get that found it dead: it dies unless somebody has taken a reference meanwhile.
        if dec_and_test(&cpu, shared.count).await {
            let _ = cpu.cas(shared.count, LOW, LOW, DEAD).await;
        }
        cpu.end();
        cpu.work(shared.parallel);
    }
}
