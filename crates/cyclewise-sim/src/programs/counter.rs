//! Counters: one that every thread increments, by a read-modify-write, a loop of exchanges or one of exclusives; and one for each thread.

use super::setup::{Expected, Lines, Memory, Start, counts_operations, start};
use crate::engine::{ALL, Backoff, Cpu, LineId};
use crate::workload::{Job, Relax};

#[derive(Clone)]
pub(super) struct Counter {
    line: LineId,
    relax: Relax,
    parallel: u32,
}

pub(super) fn prepare<F: Future<Output = ()> + 'static>(
    job: &Job,
    memory: &mut Memory,
    body: fn(Cpu, Counter) -> F,
) -> (Start, Expected) {
    let line = memory.line(0);
    let counter = Counter {
        line,
        relax: job.relax,
        parallel: job.parallel_cycles,
    };
    (start(counter, body), counts_operations(line))
}

pub(super) async fn fetch_add(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        cpu.add_unused(counter.line, 1).await;
        cpu.end();
        cpu.work(counter.parallel);
    }
}

pub(super) async fn cas_loop(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(counter.relax);
        let mut count = cpu.load_to_write(counter.line, ALL).await;
        while let Err(now) = cpu.cas(counter.line, ALL, count, count + 1).await {
            cpu.retried();
            backoff.relax(&cpu);
            count = now;
        }
        cpu.won();
        cpu.end();
        cpu.work(counter.parallel);
    }
}

/// Arm's LDXR and STXR, RISC-V's LR and SC.
pub(super) async fn ll_sc(cpu: Cpu, counter: Counter) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(counter.relax);
        loop {
            let count = cpu.load_exclusive(counter.line).await;
            if cpu.store_exclusive(counter.line, count + 1).await {
                break;
            }
            cpu.retried();
            backoff.relax(&cpu);
        }
        cpu.won();
        cpu.end();
        cpu.work(counter.parallel);
    }
}

/// One counter for each thread, on a line of its own, incremented by a plain load and store.
pub(super) fn percpu(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let counters = memory.lines(job.threads, 0);
    // With several counters, the value of each is unknown.
    let expected = match job.threads {
        1 => counts_operations(counters.at(0)),
        _ => Box::new(|_| Vec::new()),
    };
    (start((counters, job.parallel_cycles), run_percpu), expected)
}

async fn run_percpu(cpu: Cpu, (counters, parallel): (Lines, u32)) {
    let counter = counters.at(cpu.thread());
    while cpu.again() {
        cpu.begin();
        let count = cpu.load_to_write(counter, ALL).await;
        cpu.store(counter, ALL, count + 1).await;
        cpu.end();
        cpu.work(parallel);
    }
}
