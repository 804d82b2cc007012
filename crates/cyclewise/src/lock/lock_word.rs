//! The word of a lock as the algorithm sees it: locked, pending, and the tail of the queue.
//!
//! # States
//! Three bits and a field:
//!
//! | bits | held? | meaning |
//! |---|---|---|
//! | 0 | no | free for any thread |
//! | [`LOCKED`] | yes | held; its release makes it free for any thread |
//! | `LOCKED` and [`PENDING`] | yes | held; its release reserves it for the head of the queue |
//! | `PENDING` | no | reserved for the head of the queue; a newcomer may take it if the head does not |
//! | `LOCKED` and [`HANDOFF`] | yes | held; its release hands it to the head of the queue |
//! | `HANDOFF` | no | handed to the head of the queue; every other thread queues |
//!
//! The tail names the last waiter's node ([`NodeIndex`](super::nodes::NodeIndex)), or is [`NO_TAIL`] if there is no queue. A waiter
//! that finds no tail when it becomes the tail is the head.
//!
//! # Two layouts
//! [`SplitWord`] is a lock of 8 bytes in three atomics: the bits, the tail, and the holder's record of the head's turn. Each is
//! accessed at its own size only, since Rust's memory model does not allow mixed-size accesses; and because the first holds nothing
//! but the bits, a release can be a plain store. The bits have 32 bits, because some CPUs are slow to lock a byte that was just stored
//! (`design/library.md`); the tail and the record have 16 each. [`HighHalfWord`](super::high_half_word::HighHalfWord) is the high half
//! of 8 bytes whose low half is other data; every change of it is a read-modify-write of all 8.
//!
//! # Invariants
//! 1. Only `try_take` sets `LOCKED`, from a state without it, and only `release` and `release_to_head` clear it. So between a `try_take`
//!    that succeeds and its release no other succeeds.
//! 2. `PENDING` and `HANDOFF` are hints. No change of them affects exclusion, only the order: a thread that finds the lock handed to a
//!    queue that is not there queues, becomes the head, and takes it.

use crate::primitive::cold_path;
use crate::primitive::{AtomicU16, AtomicU32, const_fn, store};
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

pub(crate) const LOCKED: u32 = 1;
/// The head of the queue has priority over newcomers.
pub(crate) const PENDING: u32 = 2;
/// Only the head of the queue may take the lock next.
pub(crate) const HANDOFF: u32 = 4;
/// The record of the turn in a lock that was never released with a queue.
const NEW_TURN: u16 = 0;
/// No node: there is no queue.
pub(crate) const NO_TAIL: u16 = 0;

pub(crate) trait LockWord {
    /// The bits at some moment. Relaxed: a guess for `try_take`; before a sleep a barrier precedes it.
    fn bits(&self) -> u32;

    /// Changes the bits from `found`, which has no `LOCKED`, to [`LOCKED`] alone. Acquire: pairs with the Release in `release`.
    fn try_take(&self, found: u32) -> bool;

    /// Releases what the caller holds, unless there is a queue whose turns have to be looked at; `false` then. Release: pairs with
    /// the Acquire in `try_take`.
    fn release_alone(&self) -> bool;

    /// Releases what the caller holds, to the head where [`PENDING`] or [`HANDOFF`] is seen. Release: pairs with the Acquire in
    /// `try_take`. If this is a plain store, a bit that is set at the same moment is lost.
    fn release(&self);

    /// Releases what the caller holds to the head, by [`PENDING`] or by [`HANDOFF`]. Release: pairs with the Acquire in `try_take`.
    fn release_to_head(&self, bit: u32);

    /// Sets [`PENDING`] if the lock is held and will not be handed over. Relaxed: a hint orders nothing.
    fn set_pending(&self);

    /// Sets [`HANDOFF`] if the lock is held, in place of [`PENDING`]. Relaxed, as above.
    fn set_handoff(&self);

    /// Clears [`PENDING`]. Relaxed, as above.
    fn clear_pending(&self);

    /// Clears [`PENDING`] and [`HANDOFF`]. Relaxed, as above.
    fn clear_hints(&self);

    /// The holder's record of how long the head has been passed, where the word has room for one.
    fn turn(&self) -> Option<&AtomicU16>;

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

/// A lock of 8 bytes.
#[repr(C)]
pub(crate) struct SplitWord {
    bits: AtomicU32,
    tail: AtomicU16,
    /// Only the holder accesses it.
    turn: AtomicU16,
}

const _: () = assert!(cfg!(loom) || size_of::<SplitWord>() == 8 && align_of::<SplitWord>() == 4);

impl SplitWord {
    const_fn! {
        /// Free.
        pub(crate) fn new() -> Self {
            Self {
                bits: AtomicU32::new(0),
                tail: AtomicU16::new(NO_TAIL),
                turn: AtomicU16::new(NEW_TURN),
            }
        }
    }
}

/// For the models' broken twins.
#[cfg(all(test, loom))]
impl SplitWord {
    pub(super) fn store_bits(&self, bits: u32) {
        store!(self.bits, bits, Relaxed);
    }

    pub(super) fn take_relaxed(&self, found: u32) -> bool {
        self.bits.compare_exchange(found, LOCKED, Relaxed, Relaxed).is_ok()
    }
}

impl LockWord for SplitWord {
    #[inline]
    fn bits(&self) -> u32 {
        self.bits.load(Relaxed)
    }

    #[inline]
    fn try_take(&self, found: u32) -> bool {
        self.bits.compare_exchange(found, LOCKED, Acquire, Relaxed).is_ok()
    }

    #[inline(always)]
    fn release_alone(&self) -> bool {
        // The tail and not the bits: only a queue's head sets them, and a load of the word that was just locked may delay the store
        // on some CPUs. That is a guess from one record (`design/library.md`). A branch and not a computed value, for which the store would wait everywhere.
        let alone = self.tail.load(Relaxed) == NO_TAIL;
        if alone {
            store!(self.bits, 0, Release);
        } else {
            cold_path();
        }
        alone
    }

    #[inline]
    fn release(&self) {
        let kept = self.bits.load(Relaxed) & !LOCKED;
        store!(self.bits, kept, Release);
    }

    fn release_to_head(&self, bit: u32) {
        store!(self.bits, bit, Release);
    }

    fn set_pending(&self) {
        // Relaxed, twice: fails if the lock was just released, which the caller checks anyway.
        let _ = self.bits.compare_exchange(LOCKED, LOCKED | PENDING, Relaxed, Relaxed);
    }

    fn set_handoff(&self) {
        let found = self.bits.load(Relaxed);
        if found == LOCKED || found == LOCKED | PENDING {
            // Relaxed, twice: fails if the lock was just released, and the release wakes the caller.
            let _ = self.bits.compare_exchange(found, LOCKED | HANDOFF, Relaxed, Relaxed);
        }
    }

    fn clear_pending(&self) {
        self.bits.and(!PENDING, Relaxed);
    }

    fn clear_hints(&self) {
        self.bits.and(!(PENDING | HANDOFF), Relaxed);
    }

    #[inline]
    fn turn(&self) -> Option<&AtomicU16> {
        Some(&self.turn)
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
