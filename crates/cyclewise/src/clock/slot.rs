//! A segment in shared memory: words that may be written while they are read.
//!
//! # Memory ordering
//! A [sequence lock](crate::seq); see [`timeline`](super::timeline).

use super::segment::{Calibration, Segment};
use crate::primitive::const_fn;
use crate::primitive::unpatched::AtomicU64;
use crate::seq::sequence::Sequence;
use core::mem::offset_of;
use core::sync::atomic::Ordering::Relaxed;

/// The number of a slot that is being written; no segment has it.
pub(super) const TORN: u64 = u64::MAX;

pub(super) const OPEN: u64 = 0; // what follows is not decided
pub(super) const CLOSED: u64 = 1; // the next segment follows
pub(super) const GAP: u64 = 2; // the kernel's clock follows

/// A segment in shared memory. All that a reading needs is in the first cache line, so that one miss fetches it.
#[repr(C, align(64))]
pub(super) struct Slot {
    pub(super) number: Sequence,
    pub(super) start: AtomicU64,
    pub(super) base: AtomicU64,
    pub(super) mult: AtomicU64,
    pub(super) fast: AtomicU64,
    pub(super) length: AtomicU64,
    pub(super) error_ns: AtomicU64,
    /// The segment's number times four, and its state. With the number, so that a delayed reader cannot decide for
    /// another segment.
    pub(super) state: AtomicU64,
    rate: AtomicU64,
    rate_error: AtomicU64,
    since: AtomicU64,
    faults: AtomicU64,
}

// C programs read these inline (`cyclewise/clock.h`).
const _: () = assert!(
    cfg!(loom)
        || offset_of!(Slot, number) == 0
            && offset_of!(Slot, start) == 8
            && offset_of!(Slot, base) == 16
            && offset_of!(Slot, mult) == 24
            && offset_of!(Slot, fast) == 32
);

/// What a reader loads of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) start: u64,
    /// The lower half of `start`.
    pub(super) start_low: u32,
    pub(super) base: u64,
    pub(super) mult: u64,
    /// 0 if the slot was being written.
    pub(super) fast: u64,
}

impl View {
    /// The time of `ticks`, if the fast path applies.
    ///
    /// It is computed from the lower halves of the ticks. On x86-64 the lower half of the counter is the first to be
    /// there, in a register of its own; the comparison needs both halves, and nothing waits for its result.
    #[inline(always)]
    pub(super) fn at(self, ticks: u64) -> Option<u64> {
        // Below `fast`, and so below 2^32 (Invariant 3 of `segment`), the lower half of the difference is all of it.
        let delta = u64::from((ticks as u32).wrapping_sub(self.start_low));
        (ticks.wrapping_sub(self.start) < self.fast).then(|| Segment::ns_after(self.base, self.mult, delta))
    }
}

impl Slot {
    const_fn! {
        pub(super) fn new(number: u64, state: u64) -> Self {
            Self {
                number: Sequence::new(number),
                start: AtomicU64::new(0),
                base: AtomicU64::new(0),
                mult: AtomicU64::new(0),
                fast: AtomicU64::new(0),
                length: AtomicU64::new(0),
                error_ns: AtomicU64::new(0),
                state: AtomicU64::new(state),
                rate: AtomicU64::new(0),
                rate_error: AtomicU64::new(0),
                since: AtomicU64::new(0),
                faults: AtomicU64::new(0),
            }
        }
    }

    /// Loads what a reader needs, if the slot still holds segment `number`.
    #[inline(always)]
    pub(super) fn view(&self, number: u64) -> View {
        // Relaxed, here and below: the sequence orders them.
        let (start, base) = (self.start.load(Relaxed), self.base.load(Relaxed));
        let (mult, fast) = (self.mult.load(Relaxed), self.fast.load(Relaxed));
        // Once more: of one number the compiler would make one difference, of whole ticks, and the time would wait for it.
        let start_low = self.start.load(Relaxed) as u32;
        let intact = self.number.is_still(number);
        View {
            start,
            start_low,
            base,
            mult,
            fast: if intact { fast } else { 0 },
        }
    }

    /// The segment with this number, if the slot still holds it.
    pub(super) fn get(&self, number: u64) -> Option<Segment> {
        if self.number.load() != number {
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
            calibration: Calibration {
                rate: self.rate.load(Relaxed),
                rate_error: self.rate_error.load(Relaxed),
                since: self.since.load(Relaxed),
                faults: self.faults.load(Relaxed),
            },
        };
        self.number.is_still(number).then_some(segment)
    }

    /// Writes a segment: invalidates the number, stores the fields, stores the number.
    pub(super) fn write(&self, segment: &Segment) {
        self.number.invalidate(TORN);
        self.start.store(segment.start, Relaxed);
        self.base.store(segment.base, Relaxed);
        self.mult.store(segment.mult, Relaxed);
        self.fast.store(segment.fast, Relaxed);
        self.length.store(segment.length, Relaxed);
        self.error_ns.store(segment.error_ns, Relaxed);
        self.rate.store(segment.calibration.rate, Relaxed);
        self.rate_error.store(segment.calibration.rate_error, Relaxed);
        self.since.store(segment.calibration.since, Relaxed);
        self.faults.store(segment.calibration.faults, Relaxed);
        self.state.store(segment.number << 2 | OPEN, Relaxed);
        self.number.publish(segment.number);
    }
}
