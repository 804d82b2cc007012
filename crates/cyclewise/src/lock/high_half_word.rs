//! A lock in the high half of 8 bytes whose low half is somebody else's: for a lock and a count that change as one.
//!
//! The low half belongs to the user, by read-modify-writes of the whole, none of which changes the high half: while that
//! is not zero, those of the lock's holder alone; while it is, anybody's compare-and-exchange that finds it so.
//!
//! The lock is the high half so that one unsigned comparison of the whole sees both that it is free and that the count is
//! small: a whole that is at most [`FREE`](HighHalfWord::FREE) is a lock that is free.
//!
//! # Invariants
//! 1. Every access here is of all 8 bytes, and leaves the low half as it finds it.
//! 2. The high half is zero where nobody holds the lock, it is kept for nobody, and there is no queue.

use super::lock_word::{LOCKED, LockWord, PENDING};
use crate::primitive::{AtomicU64, const_fn};
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

/// Where the two bits are.
const SHIFT: u32 = 32;
/// Where the tail is.
const TAIL_SHIFT: u32 = SHIFT + 16;
/// Its bits.
const TAIL: u64 = 0xffff << TAIL_SHIFT;

/// The two bits in their place.
const fn at(bits: u8) -> u64 {
    (bits as u64) << SHIFT
}

/// The high half of 8 bytes as a lock; see the module's notes for what the low half may be used for.
#[repr(transparent)]
pub(crate) struct HighHalfWord(AtomicU64);

impl HighHalfWord {
    /// The largest whole of a lock that nobody holds, keeps or waits for.
    pub(crate) const FREE: u64 = u32::MAX as u64;

    const_fn! {
        /// Free, with this in the low half.
        pub(crate) fn new(low: u32) -> Self {
            Self(AtomicU64::new(low as u64))
        }
    }

    /// All 8 bytes, for what the type's notes allow.
    #[inline]
    pub(crate) fn whole(&self) -> &AtomicU64 {
        &self.0
    }

    /// Changes the bits, unless `new` gives none.
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
    fn bits(&self) -> u8 {
        (self.0.load(Relaxed) >> SHIFT) as u8
    }

    #[inline]
    fn try_take(&self, found: u8) -> bool {
        let bits = at(LOCKED | PENDING);
        self.change(Acquire, |word| {
            (word & bits == at(found)).then_some(word & !bits | at(LOCKED))
        })
        .is_ok()
    }

    #[inline]
    fn release(&self) {
        // PENDING stays where it is set: nothing is lost here.
        self.0.sub(at(LOCKED), Release);
    }

    fn release_to_head(&self) {
        // LOCKED is 1 and PENDING is 2: whichever PENDING is, LOCKED goes and PENDING is there.
        let bits = at(LOCKED | PENDING);
        let _ = self.change(Release, |word| Some(word & !bits | at(PENDING)));
    }

    fn set_pending(&self) {
        let bits = at(LOCKED | PENDING);
        let _ = self.change(Relaxed, |word| {
            (word & bits == at(LOCKED)).then_some(word | at(PENDING))
        });
    }

    fn clear_pending(&self) {
        self.0.and(!at(PENDING), Relaxed);
    }

    fn tail(&self) -> u16 {
        (self.0.load(Relaxed) >> TAIL_SHIFT) as u16
    }

    fn swap_tail(&self, place: u16) -> u16 {
        let tail = u64::from(place) << TAIL_SHIFT;
        match self.change(AcqRel, |word| Some(word & !TAIL | tail)) {
            Ok(found) | Err(found) => (found >> TAIL_SHIFT) as u16,
        }
    }

    fn end_tail(&self, place: u16) -> bool {
        let tail = u64::from(place) << TAIL_SHIFT;
        self.change(Release, |word| (word & TAIL == tail).then_some(word & !TAIL))
            .is_ok()
    }

    fn address(&self) -> usize {
        from_ref(self).addr()
    }
}
