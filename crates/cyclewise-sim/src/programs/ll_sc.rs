//! A counter that is loaded exclusively and stored exclusively until that succeeds: Arm's LDXR and STXR, RISC-V's LR and SC.

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
        loop {
            let count = cpu.load_exclusive(shared.counter).await;
            if cpu.store_exclusive(shared.counter, count + 1).await {
                break;
            }
            cpu.retried();
            backoff.relax(&cpu);
        }
        cpu.won();
        cpu.end();
        cpu.work(shared.parallel);
    }
}
