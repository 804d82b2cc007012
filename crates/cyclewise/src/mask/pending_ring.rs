//! A ring of recorded signals, oldest first: handlers fill it and their own thread empties it.
//!
//! # Invariants
//! 1. Only `push` changes `tail`, in a handler. Only `pop` and `clear` change `head`; a handler may interrupt them,
//!    never the other way round.
//! 2. A handler may interrupt another's `push`. So a place is reserved first, by one exchange of `tail`, and then
//!    written. It is complete before the handler ends, and so before `pop` reads it. `pop` copies a record before it
//!    advances `head`.
//! 3. A place that is unused, or reserved and not yet written, names no signal.
//!
//! # Memory ordering
//! One thread: handlers and mainline. Accesses are relaxed and so cannot tear, with compiler fences between a record
//! and its index.

use super::siginfo::Info;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

/// Records in a ring. A power of two, so that indices may wrap; and few, because they are in static TLS (`arch::THREAD_BLOCK`). The kernel
/// keeps the others.
pub(super) const CAPACITY: u32 = 4;

/// Words of a record: what [`Info`] gives out, as static TLS has no room for more. The first has the signal and its code.
const STORED: usize = 3;

fn stored(info: &Info) -> [u64; STORED] {
    let first = u64::from(info.signal().cast_unsigned()) | u64::from(info.code().cast_unsigned()) << 32;
    [first, info.0[2], info.0[3]]
}

/// The ring. All zeroes is an empty one.
#[derive(Default)]
pub(super) struct PendingRing {
    head: AtomicU32,
    tail: AtomicU32,
    records: [[AtomicU64; STORED]; CAPACITY as usize],
}

impl PendingRing {
    pub(super) fn len(&self) -> u32 {
        // Relaxed: this thread's own.
        self.tail.load(Relaxed).wrapping_sub(self.head.load(Relaxed))
    }

    pub(super) fn holds(&self, signal: i32) -> bool {
        let head = self.head.load(Relaxed);
        (0..self.len()).any(|i| self.read(head.wrapping_add(i)).signal() == signal)
    }

    /// Appends; false if there is no room. `between` runs at every point where another handler may.
    pub(super) fn push(&self, info: &Info, between: impl Fn()) -> bool {
        let mut tail = self.tail.load(Relaxed);
        loop {
            if tail.wrapping_sub(self.head.load(Relaxed)) >= CAPACITY {
                return false;
            }
            between();
            // Relaxed: one thread. An exchange, because handlers may interrupt this one (Invariant 2).
            match self.tail.compare_exchange(tail, tail.wrapping_add(1), Relaxed, Relaxed) {
                Ok(_) => break,
                Err(found) => tail = found,
            }
        }
        for (word, value) in self.record(tail).iter().zip(stored(info)) {
            between();
            word.store(value, Relaxed);
        }
        // Pairs with the fence in `pop`: the record is complete before this handler ends.
        compiler_fence(SeqCst);
        true
    }

    /// Removes the oldest. `between` runs between copying it and freeing its place.
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
        self.free_oldest(head, between);
        Some(info)
    }

    /// Drops every record. No handler runs meanwhile.
    pub(super) fn clear(&self) {
        while self.len() != 0 {
            self.free_oldest(self.head.load(Relaxed), || ());
        }
    }

    /// Frees the oldest place (Invariant 3).
    fn free_oldest(&self, head: u32, between: impl Fn()) {
        self.record(head)[0].store(0, Relaxed);
        compiler_fence(SeqCst);
        between();
        self.head.store(head.wrapping_add(1), Relaxed);
    }

    fn record(&self, index: u32) -> &[AtomicU64; STORED] {
        &self.records[(index % CAPACITY) as usize]
    }

    fn read(&self, index: u32) -> Info {
        let [first, sender, value] = self.record(index).each_ref().map(|word| word.load(Relaxed));
        Info([first & u64::from(u32::MAX), first >> 32, sender, value, 0, 0])
    }
}
