//! What a reader does when the short way does not lead to a time: on to the next segment, into a gap, out of it.

use super::segment::{Place, Segment};
use super::timeline::{Fate, Timeline};

/// Counters of two CPUs may be this far apart and the kernel still calls them synchronous: a tick so little before the
/// current segment has the time of its start.
const SKEW_NS: u64 = 1_000;

/// What a reader needs beside the timeline.
pub(super) trait World {
    /// The counter, after every earlier instruction and before every later one.
    fn ticks(&self) -> u64;
    /// CLOCK_MONOTONIC.
    fn kernel_ns(&self) -> u64;
    /// Whether no segment begins any more.
    fn is_demoted(&self) -> bool;
    /// A reading in the last part of the segment, which has no successor yet.
    fn due(&self, segment: &Segment);
    /// A reading of the kernel's clock in the gap after the segment.
    fn in_gap(&self, segment: &Segment, kernel_ns: u64);
}

impl Timeline {
    /// Nanoseconds, and how far they are off at most. Waits for nobody: it goes round again only where another thread has
    /// made headway.
    pub(super) fn time(&self, world: &impl World) -> (u64, u64) {
        loop {
            let segment = self.read();
            // Before the counter: once a gap is open the segment is over, even where a counter that went back is in it.
            let fate = self.fate(segment.number);
            let ticks = world.ticks();
            let fate = match (fate, segment.place(ticks)) {
                (Fate::Open | Fate::Closed, Place::Within(ns)) => {
                    if fate == Fate::Open && ticks.wrapping_sub(segment.start) >= segment.fast {
                        world.due(&segment);
                    }
                    return (ns, segment.error_at(ns));
                }
                (Fate::Open | Fate::Closed, Place::Before(by)) if is_skew(&segment, by) => {
                    return (segment.base, segment.error_at(segment.base).saturating_add(SKEW_NS));
                }
                // A counter that went back is treated as one that went too far: what it says is not in the segment.
                (Fate::Open, _) => self.open_gap(segment.number),
                (fate, _) => fate,
            };
            match fate {
                Fate::Closed => self.advance(segment.number),
                Fate::Gap => {
                    self.shut(segment.number);
                    if let Some(reading) = self.gap(&segment, world) {
                        return reading;
                    }
                }
                Fate::Open | Fate::Gone => {}
            }
        }
    }

    /// The kernel's clock, in the gap after `segment`; `None` where that is over.
    fn gap(&self, segment: &Segment, world: &impl World) -> Option<(u64, u64)> {
        // Before the kernel's clock: once this is so, no segment ends a gap any more. One that did is there to see, and is
        // read to its end: it may be behind the kernel's clock.
        let is_demoted = world.is_demoted();
        let kernel_ns = world.kernel_ns();
        if !is_demoted {
            // The look at what is current comes after the kernel's clock (Invariant 3), which reading the counter sees to.
            world.ticks();
        }
        if self.current() != segment.number {
            return None;
        }
        if !is_demoted {
            world.in_gap(segment, kernel_ns);
        }
        let ns = kernel_ns.max(segment.end_ns());
        Some((ns, (ns - kernel_ns).saturating_add(1)))
    }
}

/// Whether a tick `by` before the start is one of a CPU whose counter is a little behind.
fn is_skew(segment: &Segment, by: u64) -> bool {
    by < segment.length && by.wrapping_mul(segment.mult) >> 32 <= SKEW_NS
}
