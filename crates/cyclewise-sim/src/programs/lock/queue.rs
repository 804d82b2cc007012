//! The library's queued spinlock, in the high half of a line: two bits and the queue's tail.
//!
//! A newcomer tries for a while, and then queues; the head of the queue takes the lock when it finds it free, newcomers
//! may be faster, and when that has gone on for a while the head insists: the next release is for it. Waiters behind the
//! head look at their own lines.
//!
//! # References
//! `cyclewise::lock`, its `queue` and `word`.
//!
//! # Limits
//! Here every thread has a CPU, so nobody sleeps, no holder is preempted, and nobody gives up.

use super::super::{LOW, Memory};
use crate::engine::{Backoff, Cpu, Line};
use crate::workload::{Job, Relax};

const LOCKED: u64 = 1 << 32;
const PENDING: u64 = 1 << 33;
const BITS: u64 = LOCKED | PENDING;
const TAIL_SHIFT: u32 = 48;
const TAIL: u64 = 0xffff << TAIL_SHIFT;
/// Every bit of the lock's: what a lockref's exchange may not find.
pub(in super::super) const LOCK: u64 = !LOW;

/// In pauses, as the library's constants of these names.
const APPROACH: u32 = 64;
const PATIENCE: u32 = 256;
const KEPT: u32 = 64;
/// The most pauses between two looks, as the library's `Exponential`.
const RELAX: Relax = Relax::Exponential { max: 64 };

/// In a slot: in use, and whose turn it is.
const STATE: u64 = LOW;
const FREE: u64 = 0;
const WAITING: u64 = 1;
const HEAD: u64 = 2;
/// In a slot: the one behind, or the mark that the headship waits there.
const LINK: u64 = !LOW;
const LINK_SHIFT: u32 = 32;
const PASSED: u64 = 0xffff << LINK_SHIFT;

/// So many slots for each thread: the headship may be left in one when the thread comes again.
const SLOTS: u32 = 3;

/// A lock, and the slots of the threads that may wait for it.
#[derive(Clone)]
pub(in super::super) struct Lock {
    pub(in super::super) word: Line,
    slots: Vec<Line>,
}

/// A slot's number, from one.
type Place = u64;

impl Lock {
    /// A lock in the high half of a line whose low half holds this.
    pub(in super::super) fn new(job: &Job, memory: &mut Memory, low: u64) -> Self {
        Self {
            word: memory.line(low),
            slots: memory.lines(job.threads * SLOTS, FREE),
        }
    }

    fn slot(&self, place: Place) -> Line {
        self.slots[usize::try_from(place - 1).expect("a slot's number")]
    }

    async fn look(&self, cpu: &Cpu) -> u64 {
        cpu.load_to_write(self.word).await & BITS
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
        let me = self.claim(cpu).await;
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
        self.head(cpu).await;
        self.pass_on(cpu, me).await;
    }

    pub(in super::super) async fn unlock(&self, cpu: &Cpu) {
        cpu.clear(self.word, LOCKED).await;
    }

    /// Tries for a little while, unless the head insists.
    async fn approach(&self, cpu: &Cpu) -> bool {
        let mut backoff = Backoff::new(RELAX);
        let (mut waited, mut kept) = (0, 0);
        loop {
            match self.look(cpu).await {
                0 if self.take(cpu, 0).await => return true,
                PENDING if kept >= KEPT => return self.take(cpu, PENDING).await,
                PENDING => {
                    kept += 1;
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

    /// A slot of the thread's own that is free.
    async fn claim(&self, cpu: &Cpu) -> Place {
        let first = u64::from(cpu.thread() * SLOTS) + 1;
        loop {
            for place in first..first + u64::from(SLOTS) {
                let slot = self.slot(place);
                if cpu.load(slot).await & STATE == FREE {
                    cpu.store(slot, STATE | LINK, WAITING).await;
                    return place;
                }
            }
            cpu.pause(1);
        }
    }

    /// Waits for the lock as the head.
    async fn head(&self, cpu: &Cpu) {
        let mut backoff = Backoff::new(RELAX);
        let mut waited = 0;
        loop {
            let found = self.look(cpu).await;
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

    /// Makes the next waiter the head; ends the queue where there is none.
    async fn pass_on(&self, cpu: &Cpu, me: Place) {
        let (slot, tail) = (self.slot(me), me << TAIL_SHIFT);
        let found = cpu.load_to_write(self.word).await;
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
