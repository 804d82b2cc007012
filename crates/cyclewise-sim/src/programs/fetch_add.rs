//! A counter that one read-modify-write adds to.

use super::{After, Holds, Memory, Start, start};
use crate::engine::{ALL, Cpu, Line};
use crate::workload::Job;

#[derive(Clone)]
struct Shared {
    counter: Line,
    parallel: u32,
}

pub(super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let counter = memory.line(0);
    let shared = Shared {
        counter,
        parallel: job.parallel_cycles,
    };
    let after = move |ops| {
        vec![Holds {
            line: counter,
            mask: ALL,
            value: ops,
        }]
    };
    (start(shared, body), Box::new(after))
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        cpu.add(shared.counter, 1).await;
        cpu.end();
        cpu.work(shared.parallel);
    }
}
