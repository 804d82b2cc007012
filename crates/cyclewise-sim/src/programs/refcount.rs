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
use crate::workload::{Job, Relax, Workload};

#[derive(Clone)]
struct Refcount {
    workload: Workload,
    count: LineId,
    relax: Relax,
    critical: u32,
    parallel: u32,
}

/// The value of a saturated count.
const SATURATED: u64 = LOW;
/// The value of a dead count of `rcuref`.
const DEAD: u64 = 0xe000_0000;
/// Added to a count to decrement it. The addition is 64 bits wide and the count 32, so the upper half is ignored.
const MINUS_ONE: u64 = u64::MAX;

pub(super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    // One reference; the library's counts store one less.
    let first = match job.workload {
        Workload::RefcountCasFull | Workload::IncNotZero => 1,
        _ => 0,
    };
    let count = memory.line(first);
    let refcount = Refcount {
        workload: job.workload,
        count,
        relax: job.relax,
        critical: job.critical_cycles,
        parallel: job.parallel_cycles,
    };
    (start(refcount, run), Box::new(move |_| vec![low(count, first)]))
}

/// `refcount_inc_not_zero` and `refcount_dec_and_test` of `REFCOUNT_FULL`.
async fn exchange(cpu: &Cpu, refcount: &Refcount, by: u64) {
    let mut backoff = Backoff::new(refcount.relax);
    let mut count = cpu.load_to_write(refcount.count, LOW).await & LOW;
    while count != 0 && count != SATURATED {
        match cpu.cas(refcount.count, LOW, count, count.wrapping_add(by) & LOW).await {
            Ok(_) => return cpu.won(),
            Err(now) => count = now & LOW,
        }
        cpu.retried();
        backoff.relax(cpu);
    }
}

/// Increments by one instruction, whose flags would show misuse.
pub(super) async fn inc(cpu: &Cpu, line: LineId) {
    cpu.add(line, 1).await;
}

/// Decrements by one instruction; returns whether its flags show the last reference.
pub(super) async fn dec_and_test(cpu: &Cpu, line: LineId) -> bool {
    cpu.add(line, MINUS_ONE).await & LOW == 0
}

async fn run(cpu: Cpu, state: Refcount) {
    while cpu.again() {
        cpu.begin();
        match state.workload {
            Workload::RefcountCasFull | Workload::IncNotZero => exchange(&cpu, &state, 1).await,
            _ => inc(&cpu, state.count).await,
        }
        cpu.work(state.critical);
        match state.workload {
            Workload::RefcountCasFull => exchange(&cpu, &state, MINUS_ONE).await,
            // The last put, or the put of a get that found the count dead: it dies unless another reference was taken meanwhile.
            Workload::Rcuref if dec_and_test(&cpu, state.count).await => {
                let _ = cpu.cas(state.count, LOW, LOW, DEAD).await;
            }
            Workload::Rcuref => {}
            _ => {
                cpu.add(state.count, MINUS_ONE).await;
            }
        }
        cpu.end();
        cpu.work(state.parallel);
    }
}
