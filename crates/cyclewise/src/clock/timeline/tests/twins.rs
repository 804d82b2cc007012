//! Tests of the models: each broken protocol is caught by the check that the right one passes.

use super::models::{Model, bridge_and_slow_down, check_after, reuse};
use crate::clock::segment::{Segment, TickPosition};
use crate::clock::slot::View;
use crate::clock::slow_path::ReaderEnv;
use crate::clock::timeline::SegmentState;
use crate::primitive::threads::caught;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

const ONE: u64 = 1 << 32;

/// A successor that begins when it is written, not at the end of the segment before: a reader that loaded that segment
/// and reads the counter later is ahead of the others.
fn begin_at_once(model: &Model) {
    let first = model.timeline.read();
    let now = model.ticks();
    let base = Segment::ns_after(first.base, first.mult, now - first.start);
    model
        .timeline
        .end_gap(&model.segment(first.number + 1, now, base, ONE / 4, 1000));
}

caught! {
    a_segment_that_begins_while_another_is_read_is_caught: "steps back" by check_after(|| Model::with_segment(1000), begin_at_once, Model::now_words_first);
    a_segment_that_begins_between_a_number_and_its_words_is_caught: "steps back" by check_after(|| Model::with_segment(1000), begin_at_once, Model::now_words_last);
}

/// A bridge that starts level with the kernel's clock and is then as much slower as a segment may be.
fn slow_bridge(model: &Model) {
    let before = model.ticks();
    let base = model.kernel_ns() + 1;
    model.timeline.end_gap(&model.segment(1, before, base, ONE / 4, 1000));
}

#[test]
#[should_panic(expected = "steps back")]
fn a_bridge_that_falls_behind_the_kernel_is_caught() {
    check_after(Model::new, slow_bridge, Model::now_words_last);
}

/// Takes the kernel's clock in a gap without checking again whether the gap is still open.
fn no_second_look(model: &Model) -> u64 {
    let segment = model.timeline.read();
    match segment.position(model.ticks()) {
        TickPosition::Within(ns) => ns,
        _ if model.timeline.state(segment.number) == SegmentState::Gap => model.kernel_ns(),
        _ => model.now_words_last(),
    }
}

#[test]
#[should_panic(expected = "steps back")]
fn a_kernel_reading_without_a_second_check_is_caught() {
    check_after(Model::new, bridge_and_slow_down, no_second_look);
}

/// `view` without the second load of the number.
fn unchecked(model: &Model) -> (View, u64) {
    let slot = model.timeline.slot(model.timeline.current.load(Acquire));
    let view = View {
        start: slot.start.load(Relaxed),
        start_low: slot.start.load(Relaxed) as u32,
        base: slot.base.load(Relaxed),
        mult: slot.mult.load(Relaxed),
        fast: slot.fast.load(Relaxed),
    };
    (view, model.ticks())
}

#[test]
#[should_panic(expected = "half old")]
fn a_slot_read_without_a_check_of_its_number_is_caught() {
    reuse(unchecked);
}
