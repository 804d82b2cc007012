//! The sequence of segments that all readers share: one tick has one time, whichever segment a reader has loaded.
//!
//! # States
//! A segment is *open* until one compare-and-exchange decides what follows it:
//! - *closed*: the next segment begins where it ends, at the same nanosecond, and is already written;
//! - *gap*: a reader was past its end before that. From then on readers take the kernel's clock, but at least
//!   [`Segment::end_ns`], until another segment is published, which begins at its publication and runs ahead of the
//!   kernel's clock. If the kernel's clock was set back, that end is no [`floor`](super::segment::floor), here and below.
//!
//! # Invariants
//! 1. A segment's start, base, multiplier and length never change, and a successor is written before its predecessor is
//!    closed. So the time of a tick does not depend on when its reader loaded the segment: a reader with an old segment
//!    finds that the tick is past its end, and moves to the next.
//! 2. The successor of a closed segment begins at its end with [`Segment::end_ns`]: no step in either direction.
//! 3. A reader returns the kernel's clock only while a gap is open: it checks that *after* it has read that clock.
//! 4. The segment that ends a gap, a *bridge*, begins no earlier than the gap's floor, and is not behind the kernel's
//!    clock at any of its ticks. So a time that a reader took from the kernel before it saw the bridge is not above the
//!    bridge. The segment after the bridge may be behind the kernel's clock: by then, 0.1 ms later, every CPU sees the
//!    bridge.
//! 5. One thread at a time writes segments: the holder of the clock's lock.
//! 6. Before a reader takes the kernel's clock it ensures that no other finds a time in the segment before the gap, so
//!    that a counter that goes back into that segment takes no reader back.
//! 7. A reader loads the number of its segment before it reads the counter, and the segment's words on either side of
//!    that. The words are those of the number (`slot`) and do not change, so the order makes no difference to them. The
//!    length of the fast path changes, but each of its values is right for every tick; by 6 a reader that begins after
//!    a kernel's time was taken finds 0, on either side. The number has to be first. Suppose that a reader was
//!    delayed between the counter and the number, and the counter went back in the meantime: the reader could find a
//!    segment that begins after that. Nothing would show that its tick is from before.
//!
//!    For `PerTask` nothing keeps the number before the counter: a bare RDTSC or MRS may execute before an unfinished load
//!    of `current`. That is harmless. Both are executed within the CPU's window of unfinished instructions, which an
//!    interrupt empties, far less than the millisecond in which a rate can be learnt again. So the number is that of a
//!    segment from before the counter went back, or of one that was written beside the reading; a tick before that one's
//!    start takes the slow path, which reads the counter again.
//!
//! From these, and from a counter that is read in order and is the same for all CPUs: if read A happens before read B,
//! A's time is not above B's. Both in one segment, or in two joined by a closed one: by 1 and 2 both are values of one
//! function that does not decrease, and A's tick is not above B's. A in a segment, B in the gap after it: B's time is
//! at least the segment's end. Both in one gap: the kernel's clock. A in a gap, B in the segment that ends it: by 3, A
//! read the kernel's clock before the segment was visible, so not after B read the counter; by 4, B's time is not
//! below. B cannot be in an older segment than A: it sees the number that A saw.
//!
//! # Memory ordering
//! A slot is a sequence lock: the writer invalidates its number, stores the fields, and stores the number. `current` is
//! stored with Release after that. A reader loads `current` with Acquire, the fields, and the number again; one
//! comparison shows whether the slot changed. A slot is reused after [`SLOTS`] segments.
//!
//! # Cost
//! A reader: seven loads from two lines that change once per segment. One of them, of the number, is before the fence
//! that waits for loads; the CPU executes the others while it reads the counter (`design/library.md`).
//!
//! # References
//! Linux kernel/time/timekeeping.c (`ktime_get_fast_ns`, whose documentation says that readers may step back at an
//! update).

use super::segment::Segment;
use super::slot::{CLOSED, GAP, OPEN, Slot, TORN, View};
use crate::primitive::unpatched::AtomicU64;
use crate::primitive::{const_fn, spin_loop};
use core::mem::offset_of;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// The number of slots. Two are in use; with the others, a delayed reader seldom finds its slot half written.
const SLOTS: usize = 4;
/// What follows a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentState {
    /// Not decided yet.
    Open,
    /// The next segment follows without a step.
    Closed,
    /// The kernel's clock follows.
    Gap,
    /// The slot holds another segment by now.
    Replaced,
}

#[repr(C, align(64))]
pub(super) struct Timeline {
    current: AtomicU64,
    slots: [Slot; SLOTS],
}

// C programs read it inline (`cyclewise/clock.h`): the number, and from 64 bytes on four slots of 128 bytes.
const _: () = assert!(
    cfg!(loom)
        || offset_of!(Timeline, current) == 0
            && offset_of!(Timeline, slots) == 64
            && size_of::<Slot>() == 128
            && SLOTS == 4
);

impl Timeline {
    const_fn! {
        /// Begins in a gap without a floor.
        pub(super) fn new() -> Self {
            Self {
                current: AtomicU64::new(0),
                slots: [
                    Slot::new(0, GAP),
                    Slot::new(TORN, 0),
                    Slot::new(TORN, 0),
                    Slot::new(TORN, 0),
                ],
            }
        }
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> &Slot {
        &self.slots[number as usize % SLOTS]
    }

    #[inline(always)]
    pub(super) fn current(&self) -> u64 {
        // Acquire: pairs with the Release of `advance` and `end_gap`; the slot was written before.
        self.current.load(Acquire)
    }

    /// Loads what a reader needs of the segment `number`, which was the current one before the counter was read.
    #[inline(always)]
    pub(super) fn view(&self, number: u64) -> View {
        self.slot(number).view(number)
    }

    /// The current segment, whole.
    pub(super) fn read(&self) -> Segment {
        loop {
            let number = self.current();
            if let Some(segment) = self.slot(number).get(number) {
                return segment;
            }
            // The slot was written meanwhile, so `current` has changed: another thread made progress.
            spin_loop();
        }
    }

    /// What follows the segment.
    pub(super) fn state(&self, number: u64) -> SegmentState {
        // Acquire: pairs with the Release of `close`; the next segment is there to read.
        Self::decode(self.slot(number).state.load(Acquire), number)
    }

    fn decode(state: u64, number: u64) -> SegmentState {
        match state {
            _ if state >> 2 != number => SegmentState::Replaced,
            _ if state & 3 == OPEN => SegmentState::Open,
            _ if state & 3 == CLOSED => SegmentState::Closed,
            _ => SegmentState::Gap,
        }
    }

    /// Makes the segment after a closed one current, if no other thread has.
    pub(super) fn advance(&self, number: u64) {
        // Release: pairs with the Acquire in `current`; the caller has seen the next one written.
        let _ = self.current.compare_exchange(number, number + 1, AcqRel, Acquire);
    }

    /// Opens a gap after the segment, if nothing is decided yet. Returns the state.
    pub(super) fn open_gap(&self, number: u64) -> SegmentState {
        self.decide(number, GAP)
    }

    fn decide(&self, number: u64, state: u64) -> SegmentState {
        let [old, new] = [OPEN, state].map(|state| number << 2 | state);
        // Release: pairs with the Acquire in `state`. Acquire on failure: the thread that decided may have written a
        // segment.
        match self.slot(number).state.compare_exchange(old, new, AcqRel, Acquire) {
            Ok(_) => Self::decode(new, number),
            Err(found) => Self::decode(found, number),
        }
    }

    /// Disables the fast path of the segment before a gap (Invariant 6).
    pub(super) fn disable_fast_path(&self, number: u64) {
        let slot = self.slot(number);
        // Relaxed, here and below: the caller's own later stores publish it. If the slot has been reused meanwhile, the
        // new segment is read by the slow path.
        if slot.fast.load(Relaxed) != 0 {
            slot.fast.store(0, Relaxed);
        }
    }

    /// Extends the fast path to the whole segment, unless it was disabled.
    pub(super) fn extend_fast_path(&self, number: u64) {
        let slot = self.slot(number);
        let (fast, length) = (slot.fast.load(Relaxed), slot.length.load(Relaxed));
        if fast != 0 {
            // Relaxed: either value of the word is right. An exchange, because a reader may open a gap and disable the
            // fast path at this moment, and it stays disabled (Invariant 6).
            let _ = slot.fast.compare_exchange(fast, length, Relaxed, Relaxed);
        }
    }

    /// Writes the successor of `previous` and closes `previous`. False if a gap was first.
    ///
    /// The caller holds the lock. `next` keeps Invariant 2.
    pub(super) fn close(&self, previous: u64, next: &Segment) -> bool {
        self.slot(next.number).write(next);
        let closed = self.decide(previous, CLOSED) == SegmentState::Closed;
        if closed {
            self.extend_fast_path(previous);
        }
        closed
    }

    /// Ends the gap after the current segment with `next`.
    ///
    /// The caller holds the lock. `next` keeps Invariant 4.
    pub(super) fn end_gap(&self, next: &Segment) {
        self.slot(next.number).write(next);
        // Release: pairs with the Acquire in `current`.
        self.current.store(next.number, Release);
    }
}

#[cfg(all(test, loom))]
mod tests;
