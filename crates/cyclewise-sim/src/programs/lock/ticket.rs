//! The ticket lock: who comes draws a number, and waits until it is called. All waiters look at one line.
//!
//! # References
//! Linux 2.6.25 to 4.1, `arch/x86/include/asm/spinlock.h`.

use super::super::{After, Memory, Start, start};
use super::Section;
use crate::engine::{Cpu, Line};
use crate::workload::{Job, Relax};

const CALLED_SHIFT: u32 = 32;
const CALLED: u64 = 0xffff << CALLED_SHIFT;
const NEXT_SHIFT: u32 = 48;

#[derive(Clone)]
struct Shared {
    word: Line,
    relax: Relax,
    section: Section,
}

pub(in super::super) fn plan(job: &Job, memory: &mut Memory) -> (Start, After) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let shared = Shared {
        word,
        relax: job.relax,
        section,
    };
    (start(shared, body), section.after())
}

async fn body(cpu: Cpu, shared: Shared) {
    while cpu.again() {
        cpu.begin();
        let found = cpu.add(shared.word, 1 << NEXT_SHIFT).await;
        let ticket = (found >> NEXT_SHIFT) << CALLED_SHIFT;
        if found & CALLED != ticket {
            let called = |word| word & CALLED == ticket;
            cpu.wait_until(shared.word, CALLED, shared.relax, called).await;
        }
        shared.section.run(&cpu).await;
        // Only the holder changes what is called, so this need not be one step.
        let called = cpu.load_to_write(shared.word).await & CALLED;
        cpu.store(shared.word, CALLED, called + (1 << CALLED_SHIFT)).await;
        cpu.end();
        cpu.work(shared.section.parallel);
    }
}
