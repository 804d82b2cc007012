//! Test-and-set locks: one exchanges until it finds the lock free, the other looks until it is free before it exchanges.

use super::super::{After, Memory, Start, start};
use super::Section;
use crate::engine::{Backoff, Cpu, Line};
use crate::workload::{Job, Relax, Workload};

const LOCKED: u64 = 1 << 32;

#[derive(Clone)]
struct Shared {
    word: Line,
    relax: Relax,
    looks: bool,
    section: Section,
}

pub(in super::super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let shared = Shared {
        word,
        relax: job.relax,
        looks: job.workload == Workload::LockTtas,
        section,
    };
    (start(shared, body), section.after())
}

impl Shared {
    async fn lock(&self, cpu: &Cpu) {
        let mut backoff = Backoff::new(self.relax);
        loop {
            if self.looks {
                let free = |word| word & LOCKED == 0;
                cpu.wait_until(self.word, LOCKED, self.relax, free).await;
            }
            if cpu.swap(self.word, LOCKED, LOCKED).await & LOCKED == 0 {
                return cpu.won();
            }
            cpu.retried();
            backoff.relax(cpu);
        }
    }
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        shared.lock(&cpu).await;
        shared.section.run(&cpu).await;
        cpu.store(shared.word, LOCKED, 0).await;
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}
