//! A lock in the low half of 8 bytes whose high half is somebody else's: for a lock and a count that change as one.
//!
//! The high half belongs to the user, by read-modify-writes of the whole, none of which changes the low half: while that
//! is not [`FREE`](LowHalf::FREE), those of the lock's holder alone; while it is, anybody's compare-and-exchange that finds it so.
//!
//! # Invariants
//! 1. Every access here is of all 8 bytes, and leaves the high half as it finds it.
//! 2. The low half is `FREE` where nobody holds the lock, it is kept for nobody, and there is no queue.
#![cfg_attr(
    not(test),
    expect(dead_code, reason = "for types that keep a lock and a count in one word")
)]

use super::facade::{AtomicU64, and, sub};
use super::word::{LOCKED, PENDING, Word};
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

/// Where the tail is.
const TAIL_SHIFT: u32 = 16;
/// Its bits.
const TAIL: u64 = 0xffff << TAIL_SHIFT;

/// The low half of 8 bytes as a lock; see the module's notes for what the high half may be used for.
#[repr(transparent)]
pub(crate) struct LowHalf(AtomicU64);

impl LowHalf {
    /// What of the whole is the lock's.
    pub(crate) const MASK: u64 = 0xffff_ffff;
    /// The low half of a lock that nobody holds, keeps or waits for.
    pub(crate) const FREE: u64 = 0;

    /// Free, with this in the high half.
    #[cfg(not(loom))]
    pub(crate) const fn new(high: u32) -> Self {
        Self(AtomicU64::new((high as u64) << 32))
    }

    /// Free, with this in the high half.
    #[cfg(loom)]
    pub(crate) fn new(high: u32) -> Self {
        Self(AtomicU64::new(u64::from(high) << 32))
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

impl Word for LowHalf {
    #[inline]
    fn look(&self) -> u8 {
        self.0.load(Relaxed) as u8
    }

    #[inline]
    fn take(&self, found: u8) -> bool {
        let bits = u64::from(LOCKED | PENDING);
        self.change(Acquire, |word| {
            (word & bits == u64::from(found)).then_some(word & !bits | u64::from(LOCKED))
        })
        .is_ok()
    }

    #[inline]
    fn release(&self) {
        // PENDING stays where it is set: nothing is lost here.
        sub!(self.0, u64::from(LOCKED), Release);
    }

    fn release_to_head(&self) {
        // LOCKED is 1 and PENDING is 2: whichever PENDING is, LOCKED goes and PENDING is there.
        let bits = u64::from(LOCKED | PENDING);
        let _ = self.change(Release, |word| Some(word & !bits | u64::from(PENDING)));
    }

    fn request(&self) {
        let bits = u64::from(LOCKED | PENDING);
        let _ = self.change(Relaxed, |word| {
            (word & bits == u64::from(LOCKED)).then_some(word | u64::from(PENDING))
        });
    }

    fn withdraw(&self) {
        and!(self.0, !u64::from(PENDING), Relaxed);
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

    fn key(&self) -> usize {
        from_ref(self).addr()
    }
}
