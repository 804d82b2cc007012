//! What a reader does when the short way does not lead to a time: on to the next segment, into a gap, out of it.

use super::segment::{Segment, TickPosition};
use super::timeline::{SegmentState, Timeline};

/// Counters of two CPUs may be this far apart and the kernel still calls them synchronous: a tick so little before the
/// current segment has the time of its start.
const SKEW_NS: u64 = 1_000;

/// What a reader needs beside the timeline.
pub(super) trait ReaderEnv {
    /// The counter, after every earlier instruction and before every later one.
    fn ticks(&self) -> u64;
    /// CLOCK_MONOTONIC.
    fn kernel_ns(&self) -> u64;
    /// Whether no segment begins any more.
    fn is_demoted(&self) -> bool;
    /// A reading in the last part of the segment, which has no successor yet.
    fn segment_due(&self, segment: &Segment);
    /// A reading of the kernel's clock in the gap after the segment.
    fn gap_read(&self, segment: &Segment, kernel_ns: u64);
}

impl Timeline {
    /// Nanoseconds, and how far they are off at most. Waits for nobody: it goes round again only where another thread has
    /// made headway.
    pub(super) fn now_slow(&self, env: &impl ReaderEnv) -> (u64, u64) {
        loop {
            let segment = self.read();
            // Before the counter: once a gap is open the segment is over, even where a counter that went back is in it.
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
                // A counter that went back is treated as one that went too far: what it says is not in the segment.
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

    /// The kernel's clock, in the gap after `segment`; `None` where that is over.
    fn gap(&self, segment: &Segment, env: &impl ReaderEnv) -> Option<(u64, u64)> {
        // Before the kernel's clock: once this is so, no segment ends a gap any more. One that did is there to see, and is
        // read to its end: it may be behind the kernel's clock.
        let is_demoted = env.is_demoted();
        let kernel_ns = env.kernel_ns();
        if !is_demoted {
            // The look at what is current comes after the kernel's clock (Invariant 3), which reading the counter sees to.
            env.ticks();
        }
        if self.current() != segment.number {
            return None;
        }
        if !is_demoted {
            env.gap_read(segment, kernel_ns);
        }
        let ns = kernel_ns.max(segment.end_ns());
        Some((ns, (ns - kernel_ns).saturating_add(1)))
    }
}

/// Whether a tick `by` before the start is one of a CPU whose counter is a little behind.
fn is_skew(segment: &Segment, by: u64) -> bool {
    by < segment.length && by.wrapping_mul(segment.mult) >> 32 <= SKEW_NS
}
