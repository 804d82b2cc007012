//! The library's queued spinlock in the high half of a line: two bits and the queue's tail.
//!
//! A newcomer tries for a while, and then queues. The head of the queue takes the lock when it finds it free; newcomers may be
//! faster. After a while the head reserves the lock, so that the next release is for it. Waiters behind the head spin on their
//! own lines.
//!
//! # References
//! `cyclewise::lock`: its queue and its word.
//!
//! # Limits
//! Every thread has its own CPU, so no thread sleeps, is preempted or gives up. So no head is passed for the 2 ms after which the
//! library hands the lock over, and that is left out. The library's lock without other data has its bits and its tail in
//! two words of one line, and its release is a store; a line here has one word.

use super::super::setup::{LOW, Lines, Memory};
use crate::engine::{Backoff, Cpu, LineId};
use crate::workload::{Job, Relax};

const LOCKED: u64 = 1 << 32;
const PENDING: u64 = 1 << 33;
const BITS: u64 = LOCKED | PENDING;
const TAIL_SHIFT: u32 = 48;
const TAIL: u64 = 0xffff << TAIL_SHIFT;
/// All bits of the lock; a lockref's exchange requires them to be clear.
pub(in super::super) const LOCK: u64 = !LOW;

// In pauses, as in the library.
/// How long a newcomer tries before it queues.
const APPROACH: u32 = 64;
/// How long the head waits before it reserves the lock.
const PATIENCE: u32 = 256;
/// How long a newcomer leaves a reserved lock to the head before it may take it.
const RESERVED: u32 = 64;
/// The relax policy between two loads, as the library's `Exponential`.
const RELAX: Relax = Relax::Exponential { max: 64 };

/// In a slot: its state.
const STATE: u64 = LOW;
const FREE: u64 = 0;
const WAITING: u64 = 1;
const HEAD: u64 = 2;
/// In a slot: the successor, or [`PASSED`].
const LINK: u64 = !LOW;
const LINK_SHIFT: u32 = 32;
/// The headship is left in the slot for the next waiter.
const PASSED: u64 = 0xffff << LINK_SHIFT;

/// Slots per thread: the headship may still be in one when the thread queues again.
const SLOTS: u32 = 3;

/// A lock, and the slots of the threads that may wait for it.
#[derive(Clone)]
pub(in super::super) struct Lock {
    pub(in super::super) word: LineId,
    slots: Lines,
}

/// The number of a waiter's slot, from one.
type SlotNumber = u64;

impl Lock {
    /// A lock in the high half of a new line; the low half has the value `low`.
    pub(in super::super) fn new(job: &Job, memory: &mut Memory, low: u64) -> Self {
        Self {
            word: memory.line(low),
            slots: memory.lines(job.threads * SLOTS, FREE),
        }
    }

    fn slot(&self, number: SlotNumber) -> LineId {
        self.slots.at(u32::try_from(number - 1).expect("a slot's number"))
    }

    async fn load(&self, cpu: &Cpu) -> u64 {
        cpu.load_to_write(self.word, BITS).await & BITS
    }

    async fn take(&self, cpu: &Cpu, found: u64) -> bool {
        cpu.cas(self.word, BITS, found, LOCKED).await.is_ok()
    }

    pub(in super::super) async fn try_lock(&self, cpu: &Cpu) -> bool {
        self.take(cpu, 0).await
    }

    pub(in super::super) async fn lock(&self, cpu: &Cpu) {
        if self.take(cpu, 0).await || self.approach(cpu).await {
            return;
        }
        let me = self.claim_slot(cpu).await;
        let before = cpu.swap(self.word, TAIL, me << TAIL_SHIFT).await >> TAIL_SHIFT;
        if before != 0 {
            let slot = self.slot(before);
            let link = cpu.swap(slot, LINK, me << LINK_SHIFT).await & LINK;
            if link == PASSED {
                cpu.store(slot, STATE, FREE).await;
            } else {
                let is_head = |own| own & STATE == HEAD;
                cpu.wait_until(self.slot(me), STATE, Relax::Pause, is_head).await;
            }
        }
        self.wait_as_head(cpu).await;
        self.pass_headship(cpu, me).await;
    }

    pub(in super::super) async fn unlock(&self, cpu: &Cpu) {
        cpu.clear(self.word, LOCKED).await;
    }

    /// Tries for a while, unless the head reserves the lock. Returns whether it took the lock.
    async fn approach(&self, cpu: &Cpu) -> bool {
        let mut backoff = Backoff::new(RELAX);
        let (mut waited, mut reserved) = (0, 0);
        loop {
            match self.load(cpu).await {
                0 if self.take(cpu, 0).await => return true,
                PENDING if reserved >= RESERVED => return self.take(cpu, PENDING).await,
                PENDING => {
                    reserved += 1;
                    cpu.pause(1);
                    continue;
                }
                found if found & PENDING != 0 => return false,
                _ => {}
            }
            if waited >= APPROACH {
                return false;
            }
            waited += backoff.relax(cpu);
        }
    }

    /// Claims a free slot of this thread.
    async fn claim_slot(&self, cpu: &Cpu) -> SlotNumber {
        let first = u64::from(cpu.thread() * SLOTS) + 1;
        loop {
            for number in first..first + u64::from(SLOTS) {
                let slot = self.slot(number);
                if cpu.load(slot, STATE).await & STATE == FREE {
                    cpu.store(slot, STATE | LINK, WAITING).await;
                    return number;
                }
            }
            cpu.pause(1);
        }
    }

    /// Waits for the lock as the head.
    async fn wait_as_head(&self, cpu: &Cpu) {
        let mut backoff = Backoff::new(RELAX);
        let mut waited = 0;
        loop {
            let found = self.load(cpu).await;
            if found & LOCKED == 0 && self.take(cpu, found).await {
                return;
            }
            if waited < PATIENCE {
                waited += backoff.relax(cpu);
            } else {
                if found == LOCKED {
                    let _ = cpu.cas(self.word, BITS, LOCKED, BITS).await;
                }
                cpu.pause(1);
            }
        }
    }

    /// Makes the next waiter the head, or empties the queue if there is none.
    async fn pass_headship(&self, cpu: &Cpu, me: SlotNumber) {
        let (slot, tail) = (self.slot(me), me << TAIL_SHIFT);
        let found = cpu.load_to_write(self.word, TAIL).await;
        if found & TAIL == tail && cpu.cas(self.word, TAIL, tail, 0).await.is_ok() {
            cpu.store(slot, STATE, FREE).await;
            return;
        }
        let next = (cpu.swap(slot, LINK, PASSED).await & LINK) >> LINK_SHIFT;
        if next != 0 {
            cpu.store(slot, STATE, FREE).await;
            cpu.swap(self.slot(next), STATE, HEAD).await;
        }
    }
}
