//! One counter that every thread adds to; how, is each program's own.

use super::{After, Holds, Memory, Start, start};
use crate::engine::{ALL, Cpu, Line};
use crate::workload::{Job, Relax};

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) counter: Line,
    pub(super) relax: Relax,
    pub(super) parallel: u32,
}

/// The counter holds the operations that were done.
pub(super) fn plan<F: Future<Output = ()> + 'static>(
    job: &Job,
    memory: &mut Memory,
    body: fn(Cpu, Shared) -> F,
) -> (Start, After) {
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
