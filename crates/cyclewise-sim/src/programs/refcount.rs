//! Reference counts: get, critical work, put.
//!
//! - `refcount-cas-full`: the kernel's `REFCOUNT_FULL` of 2017 to 2019; get and put are compare-and-exchange loops.
//! - `refcount`: the library's; get and put are one read-modify-write each, whose flags show misuse.
//! - `inc-not-zero`: get is a loop, put is one read-modify-write.
//! - `rcuref`: the same guarantee without a loop.
//!
//! # References
//! Linux 5.1, `lib/refcount.c`; `cyclewise::refs::{refcount, rcuref}`.

use super::setup::{Expected, LOW, Memory, Start, low, start};
use crate::engine::{Backoff, Cpu, LineId};
use crate::workload::{Job, Relax};

#[derive(Clone)]
struct Refcount {
    count: LineId,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

/// A count that starts and ends with the value `first`.
fn new(job: &Job, memory: &mut Memory, first: u64) -> (Refcount, Expected) {
    let count = memory.line(first);
    let refcount = Refcount {
        count,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    (refcount, Box::new(move |_| vec![low(count, first)]))
}

/// One reference in the library's representation, which stores the count minus one.
const ONE_REFERENCE: u64 = 0;

pub(super) fn cas_full(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let (state, expected) = new(job, memory, 1);
    (start(state, run_cas_full), expected)
}

pub(super) fn refcount(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let (state, expected) = new(job, memory, ONE_REFERENCE);
    (start(state, run_refcount), expected)
}

pub(super) fn rcuref(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let (state, expected) = new(job, memory, ONE_REFERENCE);
    (start(state, run_rcuref), expected)
}

pub(super) fn inc_not_zero(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let (state, expected) = new(job, memory, 1);
    (start(state, run_inc_not_zero), expected)
}

/// The value of a saturated count.
const SATURATED: u64 = LOW;

/// `refcount_inc_not_zero` of `REFCOUNT_FULL` and of the library; returns whether a reference was taken.
pub(super) async fn add_not_zero(cpu: &Cpu, line: LineId, relax: Relax) -> bool {
    let mut backoff = Backoff::new(relax);
    let mut count = cpu.load_to_write(line, LOW).await & LOW;
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

/// `refcount_dec_and_test` of `REFCOUNT_FULL`; returns whether it was the last reference.
pub(super) async fn sub_and_test(cpu: &Cpu, line: LineId, relax: Relax) -> bool {
    let mut backoff = Backoff::new(relax);
    let mut count = cpu.load_to_write(line, LOW).await & LOW;
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

/// Increments by one instruction; returns false if its flags show misuse.
pub(super) async fn inc(cpu: &Cpu, line: LineId) -> bool {
    let old = cpu.add(line, 1).await & LOW;
    old < 1 << 31
}

/// Decrements by one instruction; returns whether its flags show the last reference.
pub(super) async fn dec_and_test(cpu: &Cpu, line: LineId) -> bool {
    // The addition is 64 bits wide and the count 32, so the upper half is ignored.
    cpu.add(line, u64::MAX).await & LOW == 0
}

async fn run_cas_full(cpu: Cpu, state: Refcount) {
    while cpu.again() {
        cpu.begin();
        add_not_zero(&cpu, state.count, state.relax).await;
        cpu.work(state.critical);
        sub_and_test(&cpu, state.count, state.relax).await;
        cpu.end();
        cpu.work(state.parallel);
    }
}

async fn run_refcount(cpu: Cpu, state: Refcount) {
    while cpu.again() {
        cpu.begin();
        inc(&cpu, state.count).await;
        cpu.work(state.critical);
        dec_and_test(&cpu, state.count).await;
        cpu.end();
        cpu.work(state.parallel);
    }
}

async fn run_inc_not_zero(cpu: Cpu, state: Refcount) {
    while cpu.again() {
        cpu.begin();
        add_not_zero(&cpu, state.count, state.relax).await;
        cpu.work(state.critical);
        // This count is stored as it is, so the last put leaves zero.
        cpu.add(state.count, u64::MAX).await;
        cpu.end();
        cpu.work(state.parallel);
    }
}

/// The value of a dead count.
const DEAD: u64 = 0xe000_0000;

async fn run_rcuref(cpu: Cpu, state: Refcount) {
    while cpu.again() {
        cpu.begin();
        if inc(&cpu, state.count).await {
            cpu.work(state.critical);
        }
        // The last put, or the put of a get that found the count dead: it dies unless another reference was taken meanwhile.
        if dec_and_test(&cpu, state.count).await {
            let _ = cpu.cas(state.count, LOW, LOW, DEAD).await;
        }
        cpu.end();
        cpu.work(state.parallel);
    }
}
