//! Loom tries every order of the accesses of two threads, on the real timeline.
//!
//! The counter is a word that each reading increments: it is the same for all threads. A reading publishes nothing.
//! Only after a long time is everything stored before visible to whoever reads the counter: no store stays in a store
//! buffer for as long as a bridge lasts. The kernel's clock is the counter. Each thread publishes what it read, and the
//! other's next reading must not be below that.

use crate::clock::segment::{Calibration, Segment};
use crate::clock::slot::View;
use crate::clock::slow_path::ReaderEnv;
use crate::clock::timeline::Timeline;
use core::sync::atomic::Ordering::{Acquire, Release};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::thread;

/// One nanosecond per tick.
const ONE: u64 = 1 << 32;

pub(super) struct Model {
    pub(super) timeline: Timeline,
    counter: AtomicU64,
    published: AtomicU64,
}

impl ReaderEnv for Model {
    fn ticks(&self) -> u64 {
        // Acquire: pairs with the Release in `pass`.
        self.counter.fetch_add(1, Acquire)
    }

    fn kernel_ns(&self) -> u64 {
        // Acquire: as above.
        self.counter.fetch_add(1, Acquire)
    }

    fn is_demoted(&self) -> bool {
        false
    }

    fn segment_due(&self, _: &Segment) {}

    fn gap_read(&self, _: &Segment, _: u64) {}
}

impl Model {
    /// Without a segment, at tick 10.
    pub(super) fn new() -> Self {
        Self {
            timeline: Timeline::new(),
            counter: AtomicU64::new(10),
            published: AtomicU64::new(0),
        }
    }

    /// With a segment of `length` ticks at one nanosecond per tick that begins now.
    pub(super) fn with_segment(length: u64) -> Self {
        let model = Self::new();
        let segment = model.segment(1, 10, 10, ONE, length);
        model.timeline.end_gap(&segment);
        model
    }

    /// Lets a long time pass.
    pub(super) fn pass(&self, ticks: u64) {
        // Release: pairs with the Acquire in `ticks` and `kernel_ns`.
        self.counter.fetch_add(ticks, Release);
    }

    pub(super) fn segment(&self, number: u64, start: u64, base: u64, mult: u64, length: u64) -> Segment {
        Segment {
            number,
            start,
            base,
            mult,
            fast: length,
            length,
            error_ns: 0,
            calibration: Calibration::default(),
        }
    }

    /// As `Clock::now_as` reads, with the words of the segment before the counter.
    pub(super) fn now_words_first(&self) -> u64 {
        let (view, ticks) = self.words_first();
        view.at(ticks).unwrap_or_else(|| self.timeline.now_slow(self).0)
    }

    /// As `Clock::now_as` reads, with the words of the segment after the counter.
    pub(super) fn now_words_last(&self) -> u64 {
        let (view, ticks) = self.words_last();
        view.at(ticks).unwrap_or_else(|| self.timeline.now_slow(self).0)
    }

    fn words_first(&self) -> (View, u64) {
        let view = self.timeline.view(self.timeline.current());
        (view, self.ticks())
    }

    fn words_last(&self) -> (View, u64) {
        let number = self.timeline.current();
        let ticks = self.ticks();
        (self.timeline.view(number), ticks)
    }

    /// A successor to the first segment at half its rate, as the holder of the lock writes it.
    pub(super) fn extend(&self) -> bool {
        let first = self.timeline.read();
        let next = self.segment(first.number + 1, first.end(), first.end_ns(), ONE / 2, 100);
        self.timeline.close(first.number, &next)
    }

    /// The segment that ends the gap after `number`, never behind the kernel's clock.
    pub(super) fn bridge(&self, number: u64, floor: u64) {
        let before = self.ticks();
        let base = self.kernel_ns() + 1;
        if base >= floor && self.timeline.current() == number {
            self.timeline.end_gap(&self.segment(number + 1, before, base, ONE, 100));
        }
    }

    pub(super) fn publish(&self, read: impl Fn(&Self) -> u64) {
        let now = read(self);
        // Release: pairs with the Acquire in `check`.
        self.published.store(now, Release);
    }

    /// Loads the published reading, and checks a new one against it.
    pub(super) fn check(&self, read: impl Fn(&Self) -> u64) {
        // Acquire: pairs with the Release in `publish`.
        let published = self.published.load(Acquire);
        let now = read(self);
        assert!(now >= published, "steps back");
    }
}

/// The orders of a reading (Invariant 7): a fence keeps the number before the counter, and nothing keeps the words on one
/// side of it, whatever the program says. `PerTask` has no fence; no model has that order, because the proof for it depends on
/// time.
pub(super) const READINGS: [fn(&Model) -> u64; 2] = [Model::now_words_first, Model::now_words_last];

/// Runs every order with at most three preemptions: an interaction of two threads in a step takes two.
pub(super) fn model(run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(run);
}

/// One thread publishes a reading, does `work` and publishes another; the other thread checks twice.
pub(super) fn publish_around(
    make: impl Fn() -> Model + Sync + Send + 'static,
    work: impl Fn(&Model) + Clone + Sync + Send + 'static,
    read: impl Fn(&Model) -> u64 + Copy + Sync + Send + 'static,
) {
    model(move || {
        let model = Arc::new(make());
        let (other, work) = (Arc::clone(&model), work.clone());
        let thread = thread::spawn(move || {
            other.publish(read);
            work(&other);
            other.publish(read);
        });
        model.check(read);
        model.check(read);
        thread.join().unwrap();
    });
}

/// One thread does `work` and then checks; the other publishes a reading.
pub(super) fn check_after(
    make: impl Fn() -> Model + Sync + Send + 'static,
    work: impl Fn(&Model) + Clone + Sync + Send + 'static,
    read: impl Fn(&Model) -> u64 + Copy + Sync + Send + 'static,
) {
    model(move || {
        let model = Arc::new(make());
        let (other, work) = (Arc::clone(&model), work.clone());
        let thread = thread::spawn(move || {
            work(&other);
            other.check(read);
        });
        model.publish(read);
        thread.join().unwrap();
    });
}

/// Writes a successor in time; if a reader was past the end before, a bridge that ends the gap.
pub(super) fn extend_or_bridge(model: &Model) {
    if !model.extend() {
        model.bridge(1, 16);
    }
}

#[test]
fn a_successor_that_comes_in_time_or_late_steps_nobody_back() {
    for now in READINGS {
        publish_around(|| Model::with_segment(6), extend_or_bridge, now);
        check_after(|| Model::with_segment(4), extend_or_bridge, now);
    }
}

/// A short bridge, a slower segment after it, and then time passes.
pub(super) fn bridge_and_slow_down(model: &Model) {
    let before = model.ticks();
    let base = model.kernel_ns() + 1;
    let bridge = model.segment(1, before, base, ONE, 2);
    model.timeline.end_gap(&bridge);
    let next = model.segment(2, bridge.end(), bridge.end_ns(), ONE / 4, 1000);
    model.timeline.close(1, &next);
    model.pass(40);
}

#[test]
fn a_gap_that_ends_steps_nobody_back() {
    for now in READINGS {
        publish_around(Model::new, |model| model.bridge(0, 0), now);
        check_after(Model::new, |model| model.bridge(0, 0), now);
        check_after(Model::new, bridge_and_slow_down, now);
    }
}

/// The slot of the first segment is reused for the fifth while it is read: segment n has ticks n thousand and times n
/// hundred.
pub(super) fn reuse(read: impl Fn(&Model) -> (View, u64) + Copy + Sync + Send + 'static) {
    model(move || {
        let model = Arc::new(Model::new());
        model.pass(990);
        model.timeline.end_gap(&model.segment(1, 1000, 100, ONE, 1000));
        let other = Arc::clone(&model);
        let thread = thread::spawn(move || {
            other.pass(4000);
            other.timeline.end_gap(&other.segment(5, 5000, 500, ONE, 1000));
        });
        let (view, ticks) = read(&model);
        if let Some(ns) = view.at(ticks) {
            assert_eq!(ns, ticks / 1000 * 100 + ticks % 1000, "half old");
        }
        thread.join().unwrap();
    });
}

#[test]
fn a_slot_used_again_is_not_read_half_old() {
    reuse(Model::words_first);
    reuse(Model::words_last);
}
