//! Updating a clock while it is read: one reader at a time takes an anchor and writes the next segment; no other waits
//! for it.

use super::anchor::Anchor;
use super::discipline::{Discipline, LEARN_NS};
use super::now::Clock;
use super::reason::Reason;
use super::segment::Segment;
use super::slow_path::ReaderEnv;
use super::source::Source;
use super::timeline::SegmentState;
use super::try_lock::Guard;
use super::updater::Updater;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::fence;

/// In a gap readers get the kernel's clock. A clock that is read less often than this stays in the gap: that costs less
/// than an anchor.
const MAX_IDLE_NS: u64 = 1_000_000;
/// Between two attempts to end a gap.
const RETRY_NS: u64 = 200_000;
/// Between two examinations of the clock source, which cost microseconds.
const EXAMINE_NS: u64 = 16_000_000_000;
/// The same after an examination that could not be made.
const EXAMINE_AGAIN_NS: u64 = 1_000_000_000;
/// Faults of the counter after which it is never trusted again.
const MAX_FAULTS: u32 = 16;

/// Whether it is time for what was put off until `due`, for less than `longest`. If there is more to wait, the kernel's clock was set back
/// since.
fn is_due(due: u64, now: u64, longest: u64) -> bool {
    !(1..=longest).contains(&due.saturating_sub(now))
}

impl<S: Source> Clock<S> {
    /// Ends the gap after `segment`, if that is worth it.
    fn try_end_gap(&self, segment: &Segment, now: u64) {
        // Relaxed: hints for when to try; a lost one costs an attempt more or less.
        let before = self.gap_ns.load(Relaxed);
        self.gap_ns.store(now, Relaxed);
        let is_known = self.status_cells.rate.load(Relaxed) > 0;
        if !is_due(self.retry_ns.load(Relaxed), now, 2 * LEARN_NS)
            || is_known && now.saturating_sub(before) > MAX_IDLE_NS
        {
            return;
        }
        let Some(mut updater) = self.updater.try_lock() else {
            return;
        };
        if self.timeline.current() != segment.number || self.status_cells.is_demoted() {
            return;
        }
        let again = if is_known { RETRY_NS } else { LEARN_NS };
        self.retry_ns.store(now.saturating_add(again), Relaxed);
        let Ok(anchor) = self.anchor(&mut updater, true) else {
            return;
        };
        let Some(bridge) = updater.discipline.bridge(segment, anchor) else {
            return;
        };
        self.timeline.end_gap(&bridge);
        self.retry_ns.store(0, Relaxed);
        // Every CPU sees the bridge before the counter is read. If the counter is still on the bridge, a reader that
        // took the kernel's clock without seeing the bridge took less than its end, so the segment after it may be
        // behind the kernel's clock.
        fence(SeqCst);
        if self.source.bracketed().wrapping_sub(bridge.start) < bridge.length
            && let Some(next) = updater.discipline.successor(&bridge, anchor)
        {
            self.timeline.close(bridge.number, &next);
        }
    }

    /// Writes the successor of `segment`, the current one, unless another thread does or did.
    pub(super) fn extend(&self, segment: &Segment) {
        if self.timeline.state(segment.number) != SegmentState::Open {
            return;
        }
        let Some(mut updater) = self.updater.try_lock() else {
            return;
        };
        // Again, under the lock: its previous holder may have closed the segment, or have given the counter up.
        if self.timeline.state(segment.number) != SegmentState::Open || self.status_cells.is_demoted() {
            return;
        }
        let anchor = self.anchor(&mut updater, false).ok();
        match anchor.and_then(|anchor| updater.discipline.successor(segment, anchor)) {
            // If a gap was first, `try_end_gap` ends it.
            Some(next) => drop(self.timeline.close(segment.number, &next)),
            // Readers use the segment to its end, and then there is a gap.
            None => self.timeline.extend_fast_path(segment.number),
        }
    }

    /// Takes an anchor and feeds it to the discipline; examines the source when that is due.
    ///
    /// # Errors
    /// The fault, after it was recorded.
    fn anchor(&self, updater: &mut Guard<'_, Updater>, in_gap: bool) -> Result<Anchor, Reason> {
        let now = self.source.monotonic_ns();
        if updater.examine_ns.is_none_or(|due| is_due(due, now, 2 * EXAMINE_NS)) {
            // Recorded below, so that an examination that panics does not count.
            let examined = self.source.examine();
            let wait_ns = match examined {
                Ok(()) => {
                    updater.is_trusted = true;
                    EXAMINE_NS
                }
                Err(reason) if reason.is_transient() => {
                    self.status_cells.record(reason);
                    EXAMINE_AGAIN_NS
                }
                Err(reason) => {
                    self.status_cells.demote(reason);
                    return Err(reason);
                }
            };
            updater.examine_ns = Some(now.saturating_add(wait_ns));
        }
        if !updater.is_trusted {
            return Err(Reason::NotExamined);
        }
        if let Some(disruptions) = self.source.disruptions()
            && updater
                .disruptions
                .replace(disruptions)
                .is_some_and(|before| before != disruptions)
        {
            updater.discipline = Discipline::new();
            return Err(self.fault(updater, Reason::Disrupted));
        }
        let observed = updater.discipline.observe(&self.source, in_gap);
        // Relaxed: only the holder of the lock records faults.
        updater.discipline.faults = self.status_cells.faults.load(Relaxed);
        let rate = updater
            .discipline
            .rate()
            .map_or(0, |rate| (rate * 4_294_967_296.0) as u64);
        // Relaxed: numbers on their own.
        self.status_cells.rate.store(rate, Relaxed);
        self.status_cells.anchors.fetch_add(1, Relaxed);
        observed.map_err(|reason| self.fault(updater, reason))
    }

    fn fault(&self, updater: &mut Guard<'_, Updater>, reason: Reason) -> Reason {
        // A suspend or a disruption is announced, and says nothing against the counter.
        if !matches!(reason, Reason::Suspended | Reason::Disrupted) {
            updater.faults += 1;
        }
        self.status_cells.record(reason);
        if updater.faults > MAX_FAULTS {
            self.status_cells.demote(Reason::Unsteady);
        }
        reason
    }
}

impl<S: Source> ReaderEnv for Clock<S> {
    fn ticks(&self) -> u64 {
        self.source.bracketed()
    }

    fn kernel_ns(&self) -> u64 {
        self.source.monotonic_ns()
    }

    fn is_demoted(&self) -> bool {
        self.status_cells.is_demoted()
    }

    fn segment_due(&self, segment: &Segment) {
        self.extend(segment);
    }

    fn gap_read(&self, segment: &Segment, kernel_ns: u64) {
        self.try_end_gap(segment, kernel_ns);
    }
}
