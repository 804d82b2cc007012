//! Records of signals, oldest first: a ring that a handler fills and its own thread empties.
//!
//! # Invariants
//! 1. `tail` is changed by `push` alone, which runs in a handler; `head` by `pop` and `clear`, which such a handler may
//!    interrupt and never the other way round.
//! 2. A handler may interrupt another's `push`: so the place is had first, by one exchange of `tail`, and then written. It is
//!    whole before the handler ends, and so before `pop` looks at it; a record is copied out before `head` leaves it.
//! 3. A place that is not in use, or had and not written yet, names no signal.
//!
//! # Memory ordering
//! One thread: handlers and mainline. Relaxed accesses, which cannot tear, and compiler fences between a record and its
//! index.

use super::siginfo::{Info, WORDS};
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

/// Records in a ring. A power of two, so that indices may wrap.
pub(super) const CAPACITY: u32 = 8;

/// The ring. All zeroes is an empty one.
pub(super) struct PendingRing {
    head: AtomicU32,
    tail: AtomicU32,
    records: [[AtomicU64; WORDS]; CAPACITY as usize],
}

impl PendingRing {
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

    /// Appends. False where there is no room. `between` runs wherever another handler may.
    pub(super) fn push(&self, info: &Info, between: impl Fn()) -> bool {
        let mut tail = self.tail.load(Relaxed);
        loop {
            if tail.wrapping_sub(self.head.load(Relaxed)) >= CAPACITY {
                return false;
            }
            between();
            // Relaxed: one thread; an exchange, for handlers that interrupt this one (Invariant 2).
            match self.tail.compare_exchange(tail, tail.wrapping_add(1), Relaxed, Relaxed) {
                Ok(_) => break,
                Err(found) => tail = found,
            }
        }
        for (word, value) in self.record(tail).iter().zip(info.0) {
            between();
            word.store(value, Relaxed);
        }
        // Pairs with the fence in `pop`: whole before this handler ends.
        compiler_fence(SeqCst);
        true
    }

    /// Takes the oldest out. `between` runs between copying it and leaving it.
    #[inline]
    pub(super) fn pop(&self, between: impl Fn()) -> Option<Info> {
        if self.len() == 0 {
            return None;
        }
        // Pairs with the fence in `push`.
        compiler_fence(SeqCst);
        let head = self.head.load(Relaxed);
        let info = self.read(head);
        between();
        compiler_fence(SeqCst);
        self.leave(head, between);
        Some(info)
    }

    /// Forgets every record. No handler runs meanwhile.
    pub(super) fn clear(&self) {
        while self.len() != 0 {
            self.leave(self.head.load(Relaxed), || ());
        }
    }

    /// Gives up the oldest place (Invariant 3).
    fn leave(&self, head: u32, between: impl Fn()) {
        self.record(head)[0].store(0, Relaxed);
        compiler_fence(SeqCst);
        between();
        self.head.store(head.wrapping_add(1), Relaxed);
    }

    fn record(&self, index: u32) -> &[AtomicU64; WORDS] {
        &self.records[(index % CAPACITY) as usize]
    }

    fn read(&self, index: u32) -> Info {
        Info(core::array::from_fn(|i| self.record(index)[i].load(Relaxed)))
    }
}
