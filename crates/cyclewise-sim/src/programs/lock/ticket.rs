//! The ticket lock: a thread draws a ticket and waits until its number is called. All waiters spin on one line.
//!
//! # References
//! Linux 2.6.25 to 4.1, `arch/x86/include/asm/spinlock.h`.

use super::super::setup::Memory;
use super::SpinLock;
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

const CALLED_SHIFT: u32 = 32;
const CALLED: u64 = 0xffff << CALLED_SHIFT;
const NEXT_SHIFT: u32 = 48;

#[derive(Clone)]
pub(in super::super) struct TicketLock {
    word: LineId,
    relax: Relax,
}

impl SpinLock for TicketLock {
    /// The holder's ticket.
    type Held = u64;

    fn allocate(job: &Job, memory: &mut Memory) -> Self {
        Self {
            word: memory.line(0),
            relax: job.relax,
        }
    }

    async fn lock(&self, cpu: &Cpu) -> u64 {
        let found = cpu.add(self.word, 1 << NEXT_SHIFT).await;
        let ticket = (found >> NEXT_SHIFT) << CALLED_SHIFT;
        if found & CALLED != ticket {
            let called = |word| word & CALLED == ticket;
            cpu.wait_until(self.word, CALLED, self.relax, called).await;
        }
        ticket
    }

    /// Only the holder changes the called number, which is its ticket, so this need not be atomic.
    async fn unlock(&self, cpu: &Cpu, ticket: u64) {
        cpu.store(self.word, CALLED, ticket + (1 << CALLED_SHIFT)).await;
    }
}
