//! A segment in shared memory: words that may be written while they are read.
//!
//! # Memory ordering
//! A sequence lock; see [`timeline`](super::timeline).

use super::segment::Segment;
use crate::primitive::const_fn;
use crate::primitive::unpatched::{AtomicU64, fence};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The number of a slot that is being written; no segment has it.
pub(super) const TORN: u64 = u64::MAX;

pub(super) const OPEN: u64 = 0; // what follows is not decided
pub(super) const CLOSED: u64 = 1; // the next segment follows
pub(super) const GAP: u64 = 2; // the kernel's clock follows

/// A segment in shared memory. One cache line, so that one miss fetches it.
#[repr(align(64))]
pub(super) struct Slot {
    pub(super) number: AtomicU64,
    pub(super) start: AtomicU64,
    pub(super) base: AtomicU64,
    pub(super) mult: AtomicU64,
    pub(super) fast: AtomicU64,
    pub(super) length: AtomicU64,
    pub(super) error_ns: AtomicU64,
    /// The segment's number times four, and its state. With the number, so that a delayed reader cannot decide for
    /// another segment.
    pub(super) state: AtomicU64,
}

/// What a reader loads before it reads the counter.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) start: u64,
    pub(super) base: u64,
    pub(super) mult: u64,
    /// 0 if the slot was being written.
    pub(super) fast: u64,
}

impl View {
    /// The time of `ticks`, if the fast path applies.
    #[inline(always)]
    pub(super) fn at(self, ticks: u64) -> Option<u64> {
        let delta = ticks.wrapping_sub(self.start);
        (delta < self.fast).then(|| Segment::ns_after(self.base, self.mult, delta))
    }
}

impl Slot {
    const_fn! {
        pub(super) fn new(number: u64, state: u64) -> Self {
            Self {
                number: AtomicU64::new(number),
                start: AtomicU64::new(0),
                base: AtomicU64::new(0),
                mult: AtomicU64::new(0),
                fast: AtomicU64::new(0),
                length: AtomicU64::new(0),
                error_ns: AtomicU64::new(0),
                state: AtomicU64::new(state),
            }
        }
    }

    /// Loads what a reader needs, if the slot still holds segment `number`.
    #[inline(always)]
    pub(super) fn view(&self, number: u64) -> View {
        // Relaxed, here and below: the fence orders them before the second load of the number.
        let (start, base) = (self.start.load(Relaxed), self.base.load(Relaxed));
        let (mult, fast) = (self.mult.load(Relaxed), self.fast.load(Relaxed));
        // Acquire: pairs with the Release fence of `write`: a reader of a new field sees that the number has changed.
        fence(Acquire);
        let intact = self.number.load(Relaxed) == number;
        View {
            start,
            base,
            mult,
            fast: if intact { fast } else { 0 },
        }
    }

    /// The segment with this number, if the slot still holds it.
    pub(super) fn get(&self, number: u64) -> Option<Segment> {
        // Acquire: pairs with the Release of the number in `write`.
        if self.number.load(Acquire) != number {
            return None;
        }
        let segment = Segment {
            number,
            start: self.start.load(Relaxed),
            base: self.base.load(Relaxed),
            mult: self.mult.load(Relaxed),
            fast: self.fast.load(Relaxed),
            length: self.length.load(Relaxed),
            error_ns: self.error_ns.load(Relaxed),
        };
        // Acquire: as in `view`.
        fence(Acquire);
        (self.number.load(Relaxed) == number).then_some(segment)
    }

    /// Writes a segment: invalidates the number, stores the fields, stores the number.
    pub(super) fn write(&self, segment: &Segment) {
        self.number.store(TORN, Relaxed);
        // Release: pairs with the Acquire fences of readers: a reader of a field stored below sees that the number has
        // changed.
        fence(Release);
        self.start.store(segment.start, Relaxed);
        self.base.store(segment.base, Relaxed);
        self.mult.store(segment.mult, Relaxed);
        self.fast.store(segment.fast, Relaxed);
        self.length.store(segment.length, Relaxed);
        self.error_ns.store(segment.error_ns, Relaxed);
        self.state.store(segment.number << 2 | OPEN, Relaxed);
        // Release: pairs with the Acquire in `get`.
        self.number.store(segment.number, Release);
    }
}
