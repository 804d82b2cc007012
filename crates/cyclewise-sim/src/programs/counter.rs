//! One counter that every thread increments, each program in its own way.

use super::setup::{Expected, Memory, Start, counts_operations, start};
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

#[derive(Clone)]
pub(super) struct Counter {
    pub(super) line: LineId,
    pub(super) relax: Relax,
    pub(super) parallel: u32,
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
