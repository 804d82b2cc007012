//! The slow path of a reader: to the next segment, into a gap, out of a gap.

use super::segment::{Segment, TickPosition, floor};
use super::timeline::{SegmentState, Timeline};

/// The kernel calls the counters of two CPUs synchronous if they differ by no more than this. A tick so little before
/// the current segment has the time of the segment's start.
const SKEW_NS: u64 = 1_000;

/// What a reader needs besides the timeline.
pub(super) trait ReaderEnv {
    /// The counter, after every earlier instruction and before every later one.
    fn ticks(&self) -> u64;
    /// CLOCK_MONOTONIC.
    fn kernel_ns(&self) -> u64;
    /// Whether no new segment is published any more.
    fn is_demoted(&self) -> bool;
    /// Called for a reading in the last part of a segment that has no successor yet.
    fn segment_due(&self, segment: &Segment);
    /// Called for a reading of the kernel's clock in the gap after the segment.
    fn gap_read(&self, segment: &Segment, kernel_ns: u64);
}

impl Timeline {
    /// Nanoseconds and their error bound. Lock-free: it loops only if another thread made progress.
    pub(super) fn now_slow(&self, env: &impl ReaderEnv) -> (u64, u64) {
        loop {
            let segment = self.read();
            // Before the counter: once a gap is open the segment is over, even if a counter that went back is inside
            // it.
            let state = self.state(segment.number);
            let ticks = env.ticks();
            let state = match (state, segment.position(ticks)) {
                (SegmentState::Open | SegmentState::Closed, TickPosition::Within(ns)) => {
                    if state == SegmentState::Open && ticks.wrapping_sub(segment.start) >= segment.fast {
                        env.segment_due(&segment);
                    }
                    return (ns, segment.error_at(ns));
                }
                (SegmentState::Open | SegmentState::Closed, TickPosition::Before(by)) if is_skew(&segment, by) => {
                    return (segment.base, segment.error_at(segment.base).saturating_add(SKEW_NS));
                }
                // A counter that went back is treated like one that went too far: its value is outside the segment.
                (SegmentState::Open, _) => self.open_gap(segment.number),
                (state, _) => state,
            };
            match state {
                SegmentState::Closed => self.advance(segment.number),
                SegmentState::Gap => {
                    self.disable_fast_path(segment.number);
                    if let Some(reading) = self.gap(&segment, env) {
                        return reading;
                    }
                }
                SegmentState::Open | SegmentState::Replaced => {}
            }
        }
    }

    /// The kernel's clock, in the gap after `segment`; `None` if the gap is over.
    fn gap(&self, segment: &Segment, env: &impl ReaderEnv) -> Option<(u64, u64)> {
        // Before the kernel's clock: once demoted, no segment ends a gap any more. One that did is visible and is read
        // to its end: it may be behind the kernel's clock.
        let is_demoted = env.is_demoted();
        let kernel_ns = env.kernel_ns();
        if !is_demoted {
            // `current` is loaded after the kernel's clock (Invariant 3); reading the counter ensures that order.
            env.ticks();
        }
        if self.current() != segment.number {
            return None;
        }
        if !is_demoted {
            env.gap_read(segment, kernel_ns);
        }
        let ns = kernel_ns.max(floor(segment.end_ns(), kernel_ns));
        Some((ns, (ns - kernel_ns).saturating_add(1)))
    }
}

/// Whether a tick `by` before the start may come from a CPU whose counter is a little behind.
fn is_skew(segment: &Segment, by: u64) -> bool {
    by < segment.length && by.wrapping_mul(segment.mult) >> 32 <= SKEW_NS
}
