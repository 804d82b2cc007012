//! The kernel's queued spinlock, in the high half of a line: a locked byte, a pending byte, and the queue's tail.
//!
//! The first waiter sets pending and looks at the word; those after it queue, each looking at a line of its own until the
//! one before hands on. Who is first of the queue looks at the word. It is fair, and a lock that is handed on costs the
//! same whatever the length of the queue.
//!
//! # References
//! Linux 5.2, `kernel/locking/qspinlock.c`.

use super::{LOW, Memory};
use crate::engine::{Cpu, Line};
use crate::workload::{Job, Relax};

/// All that is the lock's.
pub(super) const LOCK: u64 = !LOW;
/// Held.
pub(super) const LOCKED: u64 = 1 << 32;
/// The first waiter is there, and does not queue.
const PENDING: u64 = 1 << 40;
const LOCKED_BYTE: u64 = 0xff << 32;
const PENDING_BYTE: u64 = 0xff << 40;
const TAIL: u64 = 0xffff << 48;
const TAIL_SHIFT: u32 = 48;

/// In a waiter's own line: the one before has handed on.
const HANDED_ON: u64 = 1 << 32;
/// In a waiter's own line: the one behind, by number and one.
const NEXT: u64 = LOW;

/// A lock, and a line for each thread that may wait for it.
#[derive(Clone)]
pub(super) struct Queued {
    pub(super) word: Line,
    nodes: Vec<Line>,
    relax: Relax,
}

impl Queued {
    /// A lock in the high half of a line whose low half holds this.
    pub(super) fn new(job: &Job, memory: &mut Memory, low: u64) -> Self {
        Self {
            word: memory.line(low),
            nodes: memory.lines(job.threads, 0),
            // Arm waits for an event, x86 pauses; neither knows a growing pause here.
            relax: match job.relax {
                Relax::None => Relax::None,
                Relax::Pause | Relax::Exponential { .. } => Relax::Pause,
            },
        }
    }

    /// A lock that nobody ever waits for.
    pub(super) fn alone(memory: &mut Memory, low: u64) -> Self {
        Self {
            word: memory.line(low),
            nodes: Vec::new(),
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
        let node = self.nodes[cpu.thread() as usize];
        cpu.store(node, NEXT | HANDED_ON, 0).await;
        // The queue may have emptied meanwhile.
        let found = cpu.load_to_write(self.word).await;
        if found & LOCK == 0 && cpu.cas(self.word, LOCK, 0, LOCKED).await.is_ok() {
            return;
        }
        let before = cpu.swap(self.word, TAIL, me << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            let before = usize::try_from(before - 1).expect("a thread's number");
            cpu.store(self.nodes[before], NEXT, me).await;
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
        let next = usize::try_from((own & NEXT) - 1).expect("a thread's number");
        cpu.store(self.nodes[next], HANDED_ON, HANDED_ON).await;
    }
}
