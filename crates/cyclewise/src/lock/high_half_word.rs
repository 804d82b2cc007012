//! A lock in the high half of 8 bytes whose low half is the user's: for a lock and a count that change together.
//!
//! The user changes the low half by read-modify-writes of all 8 bytes that leave the high half unchanged. While the high half
//! is not zero, only the lock's holder may; while it is zero, any thread may, by a compare-and-exchange that expects the zero.
//!
//! The lock is the high half so that one unsigned comparison checks both that it is free and that the count is
//! small: the lock is free if the 8 bytes are at most [`FREE`](HighHalfWord::FREE).
//!
//! # Invariants
//! 1. Every access here is of all 8 bytes, and leaves the low half unchanged.
//! 2. The high half is zero when the lock is neither held nor reserved, and there is no queue.

use super::lock_word::{HANDOFF, LOCKED, LockWord, PENDING};
use crate::primitive::{AtomicU16, AtomicU64, const_fn};
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

/// The position of the bits.
const SHIFT: u32 = 32;
const TAIL_SHIFT: u32 = SHIFT + 16;
/// All of them.
const BITS: u32 = LOCKED | PENDING | HANDOFF;
const TAIL: u64 = 0xffff << TAIL_SHIFT;

/// The bits, shifted to their position.
const fn at(bits: u32) -> u64 {
    (bits as u64) << SHIFT
}

/// The high half of 8 bytes as a lock; the module says how the low half may be used.
#[repr(transparent)]
pub(crate) struct HighHalfWord(AtomicU64);

impl HighHalfWord {
    /// The largest value of the 8 bytes of a lock that is not held, reserved or waited for.
    pub(crate) const FREE: u64 = u32::MAX as u64;

    const_fn! {
        /// Free, with this in the low half.
        pub(crate) fn new(low: u32) -> Self {
            Self(AtomicU64::new(low as u64))
        }
    }

    /// All 8 bytes, for the accesses that the module allows.
    #[inline]
    pub(crate) fn whole(&self) -> &AtomicU64 {
        &self.0
    }

    /// Exchanges the 8 bytes for `new` of them, unless that is `None`.
    #[inline]
    fn change(&self, success: Ordering, new: impl Fn(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut found = self.0.load(Relaxed);
        while let Some(new) = new(found) {
            match self.0.compare_exchange_weak(found, new, success, Relaxed) {
                Ok(found) => return Ok(found),
                Err(other) => found = other,
            }
        }
        Err(found)
    }
}

impl LockWord for HighHalfWord {
    #[inline]
    fn bits(&self) -> u32 {
        (self.0.load(Relaxed) >> SHIFT) as u32 & BITS
    }

    #[inline]
    fn try_take(&self, found: u32) -> bool {
        let bits = at(BITS);
        self.change(Acquire, |word| {
            (word & bits == at(found)).then_some(word & !bits | at(LOCKED))
        })
        .is_ok()
    }

    #[inline(always)]
    fn release_alone(&self) -> bool {
        self.release();
        true
    }

    #[inline]
    fn release(&self) {
        // The other bits stay set: none is lost here.
        self.0.sub(at(LOCKED), Release);
    }

    fn release_to_head(&self, bit: u32) {
        let bits = at(BITS);
        let _ = self.change(Release, |word| Some(word & !bits | at(bit)));
    }

    fn set_pending(&self) {
        let bits = at(BITS);
        let _ = self.change(Relaxed, |word| {
            (word & bits == at(LOCKED)).then_some(word | at(PENDING))
        });
    }

    fn set_handoff(&self) {
        let bits = at(BITS);
        let _ = self.change(Relaxed, |word| {
            (word & at(LOCKED) != 0).then_some(word & !bits | at(LOCKED | HANDOFF))
        });
    }

    fn clear_pending(&self) {
        self.0.and(!at(PENDING), Relaxed);
    }

    fn clear_hints(&self) {
        self.0.and(!at(PENDING | HANDOFF), Relaxed);
    }

    #[inline]
    fn turn(&self) -> Option<&AtomicU16> {
        None
    }

    fn tail(&self) -> u16 {
        (self.0.load(Relaxed) >> TAIL_SHIFT) as u16
    }

    fn swap_tail(&self, node: u16) -> u16 {
        let tail = u64::from(node) << TAIL_SHIFT;
        match self.change(AcqRel, |word| Some(word & !TAIL | tail)) {
            Ok(found) | Err(found) => (found >> TAIL_SHIFT) as u16,
        }
    }

    fn end_tail(&self, node: u16) -> bool {
        let tail = u64::from(node) << TAIL_SHIFT;
        self.change(Release, |word| (word & TAIL == tail).then_some(word & !TAIL))
            .is_ok()
    }

    fn address(&self) -> usize {
        from_ref(self).addr()
    }
}
