//! How often a waiter is passed. The scheduler has no part in it: the head of the queue runs when the test lets it.

use super::super::fast_path;
use super::super::lock_word::{HANDOFF, LockWord, SplitWord};
use super::super::nodes::claim;
use super::super::turn::{PASSES, TURN_NS};
use super::super::{Futex, Moment, Park};
use super::order::alone;
use crate::primitive::AtomicU32;
use core::cell::Cell;

std::thread_local! {
    /// The time of this thread's [`Clocked`].
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// A futex whose clock the test sets, or that has none.
struct Clocked<const CLOCK: bool>;

impl<const CLOCK: bool> Park for Clocked<CLOCK> {
    type Deadline = Moment;
    const SLEEPS: bool = true;

    fn wait(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::wait(word, expected, until);
    }

    fn nap(word: &AtomicU32, expected: u32, until: Option<Moment>) {
        Futex::nap(word, expected, until);
    }

    fn wake(word: &AtomicU32) {
        Futex::wake(word);
    }

    fn is_past(until: Moment) -> bool {
        Futex::is_past(until)
    }

    fn now_ns() -> Option<u64> {
        CLOCK.then(|| NOW_NS.get())
    }
}

/// Far more than [`PASSES`].
const MANY: u32 = 100_000;

/// How many sections a thread runs, `step_ns` each, while a head that never runs waits: until the lock is handed over, or [`MANY`].
fn sections_before_a_turn<const CLOCK: bool>(step_ns: u64) -> u32 {
    let _alone = alone();
    let word = SplitWord::new();
    let head = claim(word.address()).expect("a node");
    word.swap_tail(head.number());
    let mut sections = 0;
    // What came before the head leaves a record of any age.
    NOW_NS.set(TURN_NS / 3);
    super::super::turn::begin::<_, Clocked<CLOCK>>(&word);
    while sections < MANY && fast_path::try_lock(&word) {
        NOW_NS.set(NOW_NS.get() + step_ns);
        fast_path::unlock::<_, Clocked<CLOCK>>(&word);
        sections += 1;
    }
    if sections < MANY {
        assert_eq!(word.bits(), HANDOFF);
        assert!(word.try_take(HANDOFF), "the head may take it");
        word.release_to_head(0);
    }
    assert!(word.end_tail(head.number()));
    head.node().free();
    sections
}

#[test]
fn a_head_that_does_not_run_is_passed_for_a_turn_and_a_few_sections() {
    let passes = u32::from(PASSES);
    // The last but one: 256 sections are the time after which the record begins again.
    for step_ns in [20, 1000, 50_000, 1 << 19, 3_000_000] {
        let sections = sections_before_a_turn::<true>(step_ns);
        let turn = TURN_NS.div_ceil(step_ns) as u32;
        let most = if step_ns == 1 << 19 { 2 * passes } else { turn + passes };
        assert!(sections <= most, "{sections} of {step_ns} ns");
        // Not much sooner either: a hand-over costs context switches. The clock's unit is a quarter of a turn.
        assert!(sections >= turn - turn.div_ceil(4), "{sections} of {step_ns} ns");
    }
}

/// The twin: where nobody reads a clock, the head is passed for as long as it does not run.
#[test]
fn the_twin_without_a_clock_passes_the_head_for_ever() {
    assert_eq!(sections_before_a_turn::<false>(1000), MANY);
}

#[test]
fn the_twin_whose_clock_stands_still_passes_the_head_for_ever() {
    assert_eq!(sections_before_a_turn::<true>(0), MANY);
}
