//! The kernel's queued spinlock in the high half of a line: a locked byte, a pending byte, and the queue's tail.
//!
//! The first waiter sets pending and spins on the word. Later waiters queue; each spins on its own line until its predecessor
//! passes the headship on, and the head of the queue spins on the word. The lock is fair, and a handover costs the same for any
//! queue length.
//!
//! # References
//! Linux 5.2, `kernel/locking/qspinlock.c`.

use super::setup::{LOW, Lines, Memory};
use crate::engine::{Cpu, LineId};
use crate::workload::{Job, Relax};

/// All bits of the lock.
pub(super) const LOCK: u64 = !LOW;
/// Held.
pub(super) const LOCKED: u64 = 1 << 32;
/// There is a first waiter, outside the queue.
const PENDING: u64 = 1 << 40;
const LOCKED_BYTE: u64 = 0xff << 32;
const PENDING_BYTE: u64 = 0xff << 40;
const TAIL: u64 = 0xffff << 48;
const TAIL_SHIFT: u32 = 48;

/// In a waiter's own line: the predecessor has passed the headship on.
const HANDED_ON: u64 = 1 << 32;
/// In a waiter's own line: the successor's number plus one.
const NEXT: u64 = LOW;

/// A lock, and one line for each thread that may wait for it.
#[derive(Clone, Copy)]
pub(super) struct Queued {
    pub(super) word: LineId,
    nodes: Lines,
    relax: Relax,
}

impl Queued {
    /// A lock in the high half of a new line; the low half has the value `low`.
    pub(super) fn new(job: &Job, memory: &mut Memory, low: u64) -> Self {
        Self {
            word: memory.line(low),
            nodes: memory.lines(job.threads, 0),
            // The kernel's wait loop has no exponential pause.
            relax: match job.relax {
                Relax::None => Relax::None,
                Relax::Pause | Relax::Exponential { .. } => Relax::Pause,
            },
        }
    }

    /// A lock in the high half of a line, for which no thread ever waits.
    pub(super) fn uncontended(word: LineId) -> Self {
        Self {
            word,
            nodes: Lines::NONE,
            relax: Relax::None,
        }
    }

    pub(super) async fn lock(&self, cpu: &Cpu) {
        if let Err(found) = cpu.cas(self.word, LOCK, 0, LOCKED).await {
            self.lock_slow(cpu, found).await;
        }
    }

    pub(super) async fn unlock(&self, cpu: &Cpu) {
        cpu.store(self.word, LOCKED_BYTE, 0).await;
    }

    async fn lock_slow(&self, cpu: &Cpu, found: u64) {
        if found & (PENDING_BYTE | TAIL) != 0 {
            return self.queue(cpu).await;
        }
        let found = cpu.or(self.word, PENDING).await;
        if found & (PENDING_BYTE | TAIL) != 0 {
            if found & PENDING_BYTE == 0 {
                cpu.clear(self.word, PENDING_BYTE).await;
            }
            return self.queue(cpu).await;
        }
        if found & LOCKED_BYTE != 0 {
            let unlocked = |word| word & LOCKED_BYTE == 0;
            cpu.wait_until(self.word, LOCKED_BYTE, self.relax, unlocked).await;
        }
        cpu.store(self.word, LOCKED_BYTE | PENDING_BYTE, LOCKED).await;
    }

    async fn queue(&self, cpu: &Cpu) {
        let me = u64::from(cpu.thread()) + 1;
        let node = self.nodes.at(cpu.thread());
        cpu.store(node, NEXT | HANDED_ON, 0).await;
        // The queue may be empty by now.
        let found = cpu.load_to_write(self.word, LOCK).await;
        if found & LOCK == 0 && cpu.cas(self.word, LOCK, 0, LOCKED).await.is_ok() {
            return;
        }
        let before = cpu.swap(self.word, TAIL, me << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            let before = u32::try_from(before - 1).expect("a thread's number");
            cpu.store(self.nodes.at(before), NEXT, me).await;
            cpu.wait_until(node, HANDED_ON, self.relax, |own| own & HANDED_ON != 0)
                .await;
        }
        let busy = LOCKED_BYTE | PENDING_BYTE;
        let found = cpu
            .wait_until(self.word, busy, self.relax, |word| word & busy == 0)
            .await;
        let last = me << TAIL_SHIFT;
        if found & TAIL == last && cpu.cas(self.word, LOCK, last, LOCKED).await.is_ok() {
            return;
        }
        cpu.store(self.word, LOCKED_BYTE, LOCKED).await;
        let own = cpu.wait_until(node, NEXT, self.relax, |own| own & NEXT != 0).await;
        let next = u32::try_from((own & NEXT) - 1).expect("a thread's number");
        cpu.store(self.nodes.at(next), HANDED_ON, HANDED_ON).await;
    }
}
