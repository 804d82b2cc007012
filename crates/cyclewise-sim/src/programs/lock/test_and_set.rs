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
    let section = Section::new(job, word);
    let looks = job.workload == Workload::LockTtas;
    let shared = Shared {
        word,
        relax: match job.relax {
            // Without a pause it would hardly be another lock.
            Relax::None if looks => Relax::Pause,
            relax => relax,
        },
        looks,
        section,
    };
    (start(shared, body), section.after())
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        let mut backoff = Backoff::new(shared.relax);
        while cpu.swap(shared.word, LOCKED, LOCKED).await & LOCKED != 0 {
            cpu.retried();
            backoff.relax(&cpu);
            if shared.looks {
                let free = |word| word & LOCKED == 0;
                cpu.wait_until(shared.word, LOCKED, shared.relax, free).await;
            }
        }
        cpu.won();
        shared.section.run(&cpu).await;
        cpu.store(shared.word, LOCKED, 0).await;
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}
