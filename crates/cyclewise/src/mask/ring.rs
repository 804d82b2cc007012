//! Records of signals, oldest first: a ring that a handler fills and its own thread empties.
//!
//! # Invariants
//! 1. `tail` is stored by `push` alone, which runs in a handler with every signal blocked; `head` by `pop` and `clear`,
//!    which such a handler may interrupt and never the other way round.
//! 2. A record is whole before `tail` counts it, and is copied out before `head` leaves it.
//!
//! # Memory ordering
//! One thread: handler and mainline. Relaxed accesses, which cannot tear, and compiler fences between a record and its
//! index.

use super::info::{Info, WORDS};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

/// Records in a ring. A power of two, so that indices may wrap.
pub(super) const CAPACITY: u32 = 8;

/// The ring. All zeroes is an empty one.
pub(super) struct Ring {
    head: AtomicU32,
    tail: AtomicU32,
    records: [[AtomicU64; WORDS]; CAPACITY as usize],
}

impl Ring {
    #[cfg(test)]
    pub(super) fn new() -> Self {
        Self {
            head: AtomicU32::new(0),
            tail: AtomicU32::new(0),
            records: Default::default(),
        }
    }

    /// How many records there are.
    pub(super) fn len(&self) -> u32 {
        // Relaxed: this thread's own.
        self.tail.load(Relaxed).wrapping_sub(self.head.load(Relaxed))
    }

    /// Whether a record of this signal is there.
    pub(super) fn holds(&self, signal: i32) -> bool {
        let head = self.head.load(Relaxed);
        (0..self.len()).any(|i| self.read(head.wrapping_add(i)).signal() == signal)
    }

    /// Appends. False where there is no room.
    pub(super) fn push(&self, info: &Info) -> bool {
        if self.len() >= CAPACITY {
            return false;
        }
        let tail = self.tail.load(Relaxed);
        for (word, value) in self.record(tail).iter().zip(info.0) {
            word.store(value, Relaxed);
        }
        // Pairs with the fence in `pop`: whole before it is counted (Invariant 2).
        compiler_fence(SeqCst);
        self.tail.store(tail.wrapping_add(1), Relaxed);
        true
    }

    /// Takes the oldest out. `between` runs between copying it and leaving it.
    #[inline]
    pub(super) fn pop(&self, between: impl FnOnce()) -> Option<Info> {
        if self.len() == 0 {
            return None;
        }
        // Pairs with the fence in `push`.
        compiler_fence(SeqCst);
        let head = self.head.load(Relaxed);
        let info = self.read(head);
        between();
        compiler_fence(SeqCst);
        self.head.store(head.wrapping_add(1), Relaxed);
        Some(info)
    }

    /// Forgets every record. No handler runs meanwhile.
    pub(super) fn clear(&self) {
        self.head.store(self.tail.load(Relaxed), Relaxed);
    }

    fn record(&self, index: u32) -> &[AtomicU64; WORDS] {
        &self.records[(index % CAPACITY) as usize]
    }

    fn read(&self, index: u32) -> Info {
        Info(core::array::from_fn(|i| self.record(index)[i].load(Relaxed)))
    }
}
