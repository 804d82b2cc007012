//! A counter for each thread, on a line of its own, that a plain load and store add to.

use super::{After, Holds, Memory, Start, start};
use crate::engine::{ALL, Cpu, Line};
use crate::workload::Job;

#[derive(Clone)]
struct Shared {
    counters: Vec<Line>,
    parallel: u32,
}

pub(super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let counters = memory.lines(job.threads, 0);
    let shared = Shared {
        counters: counters.clone(),
        parallel: job.parallel_cycles,
    };
    // Who added how much is not known beforehand where there are several.
    let alone = (counters.len() == 1).then(|| counters[0]);
    let after = move |ops| {
        let holds = |line| Holds {
            line,
            mask: ALL,
            value: ops,
        };
        alone.map(holds).into_iter().collect()
    };
    (start(shared, body), Box::new(after))
}

async fn body(cpu: Cpu, shared: Shared) {
    let counter = shared.counters[cpu.thread() as usize];
    while cpu.again() {
        cpu.begin();
        let count = cpu.load_to_write(counter).await;
        cpu.store(counter, ALL, count + 1).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}
