//! The MCS lock: a queue of waiters, each of which spins on its own line until its predecessor hands over the lock.
//!
//! # References
//! J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors", 1991.

use super::super::setup::{LOW, Lines, Memory};
use super::SpinLock;
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

/// In the lock's line: the number of the queue's last waiter, plus one.
const TAIL: u64 = !LOW;
const TAIL_SHIFT: u32 = 32;
/// In a waiter's own line: the predecessor has handed over the lock.
const HANDED_OVER: u64 = 1 << 32;
/// In a waiter's own line: the successor's number plus one.
const NEXT: u64 = LOW;

#[derive(Clone)]
pub(in super::super) struct McsLock {
    word: LineId,
    nodes: Lines,
    relax: Relax,
}

impl McsLock {
    /// The line of a waiter, by its number plus one.
    fn node(&self, number: u64) -> LineId {
        self.nodes.at(u32::try_from(number - 1).expect("a thread's number"))
    }
}

impl SpinLock for McsLock {
    /// The holder's number plus one.
    type Held = u64;

    fn allocate(job: &Job, memory: &mut Memory) -> Self {
        Self {
            word: memory.line(0),
            nodes: memory.lines(job.threads, 0),
            relax: job.relax,
        }
    }

    async fn lock(&self, cpu: &Cpu) -> u64 {
        let number = u64::from(cpu.thread()) + 1;
        let node = self.node(number);
        cpu.store(node, NEXT | HANDED_OVER, 0).await;
        let before = cpu.swap(self.word, TAIL, number << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            cpu.store(self.node(before), NEXT, number).await;
            let handed_over = |own| own & HANDED_OVER != 0;
            cpu.wait_until(node, HANDED_OVER, self.relax, handed_over).await;
        }
        number
    }

    async fn unlock(&self, cpu: &Cpu, number: u64) {
        let node = self.node(number);
        let mut own = cpu.load(node, NEXT).await;
        if own & NEXT == 0 && cpu.cas(self.word, TAIL, number << TAIL_SHIFT, 0).await.is_err() {
            own = cpu.wait_until(node, NEXT, self.relax, |own| own & NEXT != 0).await;
        }
        if own & NEXT != 0 {
            cpu.store(self.node(own & NEXT), HANDED_OVER, HANDED_OVER).await;
        }
    }
}
