//! One counter per thread, each on its own line, incremented by a plain load and store.

use super::setup::{Expected, Lines, Memory, Start, counts_operations, start};
use crate::engine::{ALL, Cpu};
use crate::workload::Job;

#[derive(Clone)]
struct PercpuCounters {
    counters: Lines,
    parallel: u32,
}

pub(super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let state = PercpuCounters {
        counters: memory.lines(job.threads, 0),
        parallel: job.parallel_cycles,
    };
    // With several counters, the value of each is unknown.
    let expected = match job.threads {
        1 => counts_operations(state.counters.at(0)),
        _ => Box::new(|_| Vec::new()),
    };
    (start(state, body), expected)
}

async fn body(cpu: Cpu, state: PercpuCounters) {
    let counter = state.counters.at(cpu.thread());
    while cpu.again() {
        cpu.begin();
        let count = cpu.load_to_write(counter, ALL).await;
        cpu.store(counter, ALL, count + 1).await;
        cpu.end();
        cpu.work(state.parallel);
    }
}
