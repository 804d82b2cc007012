//! A counter that is loaded, and exchanged for one more until that succeeds.

use super::{After, Holds, Memory, Start, start};
use crate::engine::{ALL, Backoff, Cpu, Line};
use crate::workload::{Job, Relax};

#[derive(Clone)]
struct Shared {
    counter: Line,
    relax: Relax,
    parallel: u32,
}

pub(super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let counter = memory.line(0);
    let shared = Shared {
        counter,
        relax: job.relax,
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
        let mut backoff = Backoff::new(shared.relax);
        let mut count = cpu.load_to_write(shared.counter).await;
        while let Err(now) = cpu.cas(shared.counter, ALL, count, count + 1).await {
            cpu.retried();
            backoff.relax(&cpu);
            count = now;
        }
        cpu.won();
        cpu.end();
        cpu.work(shared.parallel);
    }
}
