//! The word of a lock, seen by the algorithm: who holds it, whether the first waiter insists, and the last of the queue.
//!
//! # States
//! Two bits and a field:
//!
//! | bits | held? | meaning |
//! |---|---|---|
//! | 0 | no | free for anybody |
//! | [`LOCKED`] | yes | held; at its release it is free for anybody |
//! | `LOCKED` and [`PENDING`] | yes | held; at its release it is kept for the head of the queue |
//! | `PENDING` | no | kept for the head of the queue |
//!
//! The tail is the place of the last waiter in the table of slots, [`NO_TAIL`] where there is no queue. A waiter
//! that finds nobody there when it puts itself in is the head.
//!
//! # Two shapes
//! [`SplitWord`] is a lock of 4 bytes whose bits and tail are two atomics. Each is accessed at its own size only, since Rust's
//! memory model has no accesses of different sizes to one place; and because nothing but the two bits is in the byte, a
//! release may be a plain store. [`HighHalfWord`](super::high_half_word::HighHalfWord) is the high half
//! of 8 bytes whose low half is somebody else's data; there everything is a read-modify-write of all 8.
//!
//! # Invariants
//! 1. `LOCKED` is set by `take` alone, from a state without it, and taken away by `release` alone. So between a `take`
//!    that succeeded and its `release` no other succeeds.
//! 2. `PENDING` is a wish. Any change of it by anybody leaves the lock exclusive: what may be lost is the order.

use crate::primitive::{AtomicU8, AtomicU16, const_fn, store};
use core::hint::cold_path;
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Held.
pub(crate) const LOCKED: u8 = 1;
/// The head of the queue insists: newcomers do not take the lock past it.
pub(crate) const PENDING: u8 = 2;
/// No slot: there is no queue.
pub(crate) const NO_TAIL: u16 = 0;

/// A word that a lock is kept in.
pub(crate) trait LockWord {
    /// The two bits, as of some moment. Relaxed: a guess for `take`, and a look that others' sleep is decided by only
    /// behind a barrier.
    fn bits(&self) -> u8;

    /// From `found`, which is not held, to [`LOCKED`] and nothing else. Acquire: pairs with the Release in `release`.
    fn try_take(&self, found: u8) -> bool;

    /// Gives up what the caller holds; kept for the head where [`PENDING`] is seen. Release: pairs with the Acquire in
    /// `take`. Where this is a plain store, a `PENDING` that is set in the same moment is lost.
    fn release(&self);

    /// Gives up what the caller holds, and keeps it for the head. Release: pairs with the Acquire in `take`.
    fn release_to_head(&self);

    /// Sets [`PENDING`] where the lock is held. Relaxed: a wish orders nothing.
    fn set_pending(&self);

    /// Takes [`PENDING`] back. Relaxed, as above.
    fn clear_pending(&self);

    /// The last waiter's place, as of some moment. Relaxed: to be looked at, not followed.
    fn tail(&self) -> u16;

    /// Puts the caller last, and returns who was. `AcqRel`: pairs with itself; the new tail's slot is ready before it can
    /// be found, and so was the old one's.
    fn swap_tail(&self, place: u16) -> u16;

    /// Ends the queue where `place` is its last. Release: pairs with the Acquire in `swap_tail`.
    fn end_tail(&self, place: u16) -> bool;

    /// The address: what tells one lock from another while both exist. Never dereferenced.
    fn address(&self) -> usize;
}

/// A lock of 4 bytes.
#[repr(C, align(4))]
pub(crate) struct SplitWord {
    bits: AtomicU8,
    tail: AtomicU16,
}

const _: () = assert!(cfg!(loom) || size_of::<SplitWord>() == 4 && align_of::<SplitWord>() == 4);

impl SplitWord {
    const_fn! {
        /// Free.
        pub(crate) fn new() -> Self {
            Self {
                bits: AtomicU8::new(0),
                tail: AtomicU16::new(NO_TAIL),
            }
        }
    }
}

/// What the models' twins do wrong.
#[cfg(all(test, loom))]
impl SplitWord {
    pub(super) fn store_bits(&self, bits: u8) {
        store!(self.bits, bits, Relaxed);
    }

    pub(super) fn take_relaxed(&self, found: u8) -> bool {
        self.bits.compare_exchange(found, LOCKED, Relaxed, Relaxed).is_ok()
    }
}

impl LockWord for SplitWord {
    #[inline]
    fn bits(&self) -> u8 {
        self.bits.load(Relaxed)
    }

    #[inline]
    fn try_take(&self, found: u8) -> bool {
        self.bits.compare_exchange(found, LOCKED, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        // Two stores and a branch, and not one store of what the look gives: a predicted branch does not make the store
        // wait for the look.
        if self.bits.load(Relaxed) == LOCKED {
            store!(self.bits, 0, Release);
        } else {
            cold_path();
            store!(self.bits, PENDING, Release);
        }
    }

    fn release_to_head(&self) {
        store!(self.bits, PENDING, Release);
    }

    fn set_pending(&self) {
        // Relaxed on either side: fails where the lock was just given up, which the caller looks for anyway.
        let _ = self.bits.compare_exchange(LOCKED, LOCKED | PENDING, Relaxed, Relaxed);
    }

    fn clear_pending(&self) {
        self.bits.and(!PENDING, Relaxed);
    }

    fn tail(&self) -> u16 {
        self.tail.load(Relaxed)
    }

    fn swap_tail(&self, place: u16) -> u16 {
        self.tail.swap(place, AcqRel)
    }

    fn end_tail(&self, place: u16) -> bool {
        self.tail.compare_exchange(place, NO_TAIL, Release, Relaxed).is_ok()
    }

    fn address(&self) -> usize {
        from_ref(self).addr()
    }
}
