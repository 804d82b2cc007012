//! The ticket lock: a thread draws a ticket and waits until its number is called. All waiters spin on one line.
//!
//! # References
//! Linux 2.6.25 to 4.1, `arch/x86/include/asm/spinlock.h`.

use super::super::setup::{Expected, Memory, Start, start};
use super::Section;
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

const CALLED_SHIFT: u32 = 32;
const CALLED: u64 = 0xffff << CALLED_SHIFT;
const NEXT_SHIFT: u32 = 48;

#[derive(Clone)]
struct TicketLock {
    word: LineId,
    relax: Relax,
    section: Section,
}

pub(in super::super) fn prepare(job: &Job, memory: &mut Memory) -> (Start, Expected) {
    let word = memory.line(0);
    let section = Section::new(job, memory);
    let lock = TicketLock {
        word,
        relax: job.relax,
        section,
    };
    (start(lock, body), section.expected())
}

async fn body(cpu: Cpu, lock: TicketLock) {
    while cpu.again() {
        cpu.begin();
        let found = cpu.add(lock.word, 1 << NEXT_SHIFT).await;
        let ticket = (found >> NEXT_SHIFT) << CALLED_SHIFT;
        if found & CALLED != ticket {
            let called = |word| word & CALLED == ticket;
            cpu.wait_until(lock.word, CALLED, lock.relax, called).await;
        }
        lock.section.run(&cpu).await;
        // Only the holder changes the called number, which is its ticket, so this need not be atomic.
        cpu.store(lock.word, CALLED, ticket + (1 << CALLED_SHIFT)).await;
        cpu.end();
        cpu.work(lock.section.parallel);
    }
}
