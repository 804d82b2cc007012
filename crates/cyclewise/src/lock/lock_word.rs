//! The word of a lock as the algorithm sees it: locked, pending, and the tail of the queue.
//!
//! # States
//! Two bits and a field:
//!
//! | bits | held? | meaning |
//! |---|---|---|
//! | 0 | no | free for any thread |
//! | [`LOCKED`] | yes | held; its release makes it free for any thread |
//! | `LOCKED` and [`PENDING`] | yes | held; its release reserves it for the head of the queue |
//! | `PENDING` | no | reserved for the head of the queue |
//!
//! The tail is the index of the last waiter's node, or [`NO_TAIL`] if there is no queue. A waiter
//! that finds no tail when it becomes the tail is the head.
//!
//! # Two layouts
//! [`SplitWord`] is a lock of 4 bytes whose bits and tail are two atomics. Each is accessed at its own size only, since Rust's
//! memory model does not allow mixed-size accesses; and because the byte holds nothing but the two bits, a
//! release can be a plain store. [`HighHalfWord`](super::high_half_word::HighHalfWord) is the high half
//! of 8 bytes whose low half is other data; every change of it is a read-modify-write of all 8.
//!
//! # Invariants
//! 1. Only `try_take` sets `LOCKED`, from a state without it, and only `release` and `release_to_head` clear it. So between a `try_take`
//!    that succeeds and its release no other succeeds.
//! 2. `PENDING` is a hint. No change of it affects exclusion, only the order.

use crate::primitive::{AtomicU8, AtomicU16, const_fn, store};
use core::hint::cold_path;
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Held.
pub(crate) const LOCKED: u8 = 1;
/// The head of the queue has priority over newcomers.
pub(crate) const PENDING: u8 = 2;
/// No node: there is no queue.
pub(crate) const NO_TAIL: u16 = 0;

/// A word that a lock is kept in.
pub(crate) trait LockWord {
    /// The two bits at some moment. Relaxed: a guess for `try_take`; before a sleep a barrier precedes it.
    fn bits(&self) -> u8;

    /// Changes the bits from `found`, which has no `LOCKED`, to [`LOCKED`] alone. Acquire: pairs with the Release in `release`.
    fn try_take(&self, found: u8) -> bool;

    /// Releases what the caller holds; reserves it for the head where [`PENDING`] is seen. Release: pairs with the Acquire in
    /// `try_take`. If this is a plain store, a `PENDING` that is set at the same moment is lost.
    fn release(&self);

    /// Releases what the caller holds, and reserves it for the head. Release: pairs with the Acquire in `try_take`.
    fn release_to_head(&self);

    /// Sets [`PENDING`] if the lock is held. Relaxed: a hint orders nothing.
    fn set_pending(&self);

    /// Clears [`PENDING`]. Relaxed, as above.
    fn clear_pending(&self);

    /// The tail at some moment. Relaxed: only compared.
    fn tail(&self) -> u16;

    /// Makes `node` the tail, and returns the last one. `AcqRel`: pairs with itself; the new tail's node is initialized before it can
    /// be found, and so was the old one's.
    fn swap_tail(&self, node: u16) -> u16;

    /// Ends the queue if `node` is its tail. Release: pairs with the Acquire in `swap_tail`.
    fn end_tail(&self, node: u16) -> bool;

    /// The address, which identifies the lock while it exists. Never dereferenced.
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

/// For the models' broken twins.
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
        // Two stores and a branch, not one store of a computed value: the store does not wait for the load behind a predicted branch.
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
        // Relaxed, twice: fails if the lock was just released, which the caller checks anyway.
        let _ = self.bits.compare_exchange(LOCKED, LOCKED | PENDING, Relaxed, Relaxed);
    }

    fn clear_pending(&self) {
        self.bits.and(!PENDING, Relaxed);
    }

    fn tail(&self) -> u16 {
        self.tail.load(Relaxed)
    }

    fn swap_tail(&self, node: u16) -> u16 {
        self.tail.swap(node, AcqRel)
    }

    fn end_tail(&self, node: u16) -> bool {
        self.tail.compare_exchange(node, NO_TAIL, Release, Relaxed).is_ok()
    }

    fn address(&self) -> usize {
        from_ref(self).addr()
    }
}
