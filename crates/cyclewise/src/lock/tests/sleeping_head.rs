//! A head that sleeps or is about to: by whom it is passed, and until when. It runs only when the test lets it.

use super::super::fast_path;
use super::super::high_half_word::HighHalfWord;
use super::super::lock_word::{LOCKED, LockWord, SplitWord};
use super::super::park::Park;
use super::super::relax::{Pause, Relax};
use super::super::turn::TURN_NS;
use super::forward::forward;
use super::order::alone;
use crate::primitive::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;

/// Waits that end when the test says so. The test sets its clock, or it has none.
struct Scripted<const CLOCK: bool>;

static SLEEPS: AtomicUsize = AtomicUsize::new(0);
static WAKES: AtomicUsize = AtomicUsize::new(0);
static NOW_NS: AtomicU64 = AtomicU64::new(0);

impl<const CLOCK: bool> Park for Scripted<CLOCK> {
    type Deadline = ();
    const SLEEPS: bool = true;

    fn wait(_: &AtomicU32, _: u32, _: Option<()>) {
        let sleep = SLEEPS.fetch_add(1, SeqCst) + 1;
        until(&WAKES, sleep);
    }

    fn nap(word: &AtomicU32, _: u32, _: Option<()>) {
        Self::wait(word, 0, None);
    }

    fn wake(_: &AtomicU32) {}

    fn is_past((): ()) -> bool {
        false
    }

    fn now_ns() -> Option<u64> {
        CLOCK.then(|| NOW_NS.load(SeqCst))
    }
}

fn until(count: &AtomicUsize, reached: usize) {
    while count.load(SeqCst) < reached {
        thread::yield_now();
    }
}

/// One call ends each phase.
#[derive(Default)]
struct Long;

impl Relax for Long {
    fn relax(&mut self) -> u32 {
        Pause.relax() << 12
    }
}

/// How many sections another thread runs after the head has slept twice, of at most 100; the head runs only before and after.
/// By its clock, if it has one, the second sleep begins `slept_ns` after the first.
fn sections_after_two_sleeps<W: LockWord + Sync, const CLOCK: bool>(word: &W, slept_ns: u64) -> u32 {
    SLEEPS.store(0, SeqCst);
    WAKES.store(0, SeqCst);
    NOW_NS.store(1, SeqCst);
    fast_path::lock::<W, Scripted<CLOCK>, Long>(word);
    thread::scope(|scope| {
        scope.spawn(|| {
            fast_path::lock::<W, Scripted<CLOCK>, Long>(word);
            fast_path::unlock::<W, Scripted<CLOCK>>(word);
        });
        until(&SLEEPS, 1);
        assert_eq!(word.bits(), LOCKED, "a head that sleeps once lets others pass");
        fast_path::unlock::<W, Scripted<CLOCK>>(word);
        assert!(fast_path::try_lock(word), "a newcomer passes");
        NOW_NS.fetch_add(slept_ns, SeqCst);
        WAKES.store(1, SeqCst);
        until(&SLEEPS, 2);
        // The head sets the bit before the wait that counts.
        fast_path::unlock::<W, Scripted<CLOCK>>(word);
        let mut sections = 0;
        while sections < 100 && fast_path::try_lock(word) {
            fast_path::unlock::<W, Scripted<CLOCK>>(word);
            sections += 1;
        }
        WAKES.store(2, SeqCst);
        sections
    })
}

#[test]
fn a_head_that_sleeps_again_is_passed_no_more() {
    let _alone = alone();
    assert_eq!(sections_after_two_sleeps::<_, false>(&SplitWord::new(), 0), 0);
    assert_eq!(sections_after_two_sleeps::<_, false>(&HighHalfWord::new(7), 0), 0);
}

#[test]
fn a_head_that_has_slept_for_a_turn_is_passed_no_more() {
    let _alone = alone();
    assert_eq!(sections_after_two_sleeps::<_, true>(&SplitWord::new(), TURN_NS), 0);
    assert_eq!(sections_after_two_sleeps::<_, true>(&HighHalfWord::new(7), TURN_NS), 0);
}

/// A hand-over costs context switches, so it does not come sooner.
#[test]
fn a_head_that_has_slept_for_less_is_passed() {
    let _alone = alone();
    assert_eq!(
        sections_after_two_sleeps::<_, true>(&SplitWord::new(), TURN_NS - 1),
        100
    );
    assert_eq!(
        sections_after_two_sleeps::<_, true>(&HighHalfWord::new(7), TURN_NS - 1),
        100
    );
}

/// Stops the head where it reads the clock, and again before it sleeps.
struct Stopping;

static STOPS: AtomicUsize = AtomicUsize::new(0);
static STARTS: AtomicUsize = AtomicUsize::new(0);

fn stop() {
    let stopped = STOPS.fetch_add(1, SeqCst) + 1;
    until(&STARTS, stopped);
}

impl Park for Stopping {
    type Deadline = ();
    const SLEEPS: bool = true;

    fn wait(_: &AtomicU32, _: u32, _: Option<()>) {
        thread::yield_now();
    }

    fn nap(_: &AtomicU32, _: u32, _: Option<()>) {
        thread::yield_now();
    }

    fn wake(_: &AtomicU32) {}

    fn is_past((): ()) -> bool {
        false
    }

    fn now_ns() -> Option<u64> {
        stop();
        None
    }

    fn heavy() -> bool {
        stop();
        true
    }
}

/// Hands the lock to a head that has seen it held and is about to sleep. Whether a newcomer takes it before the head.
fn is_taken_from_a_head_about_to_sleep<W: LockWord + Sync>(word: &W) -> bool {
    STOPS.store(0, SeqCst);
    STARTS.store(0, SeqCst);
    fast_path::lock::<W, Stopping, Long>(word);
    thread::scope(|scope| {
        scope.spawn(|| {
            fast_path::lock::<W, Stopping, Long>(word);
            fast_path::unlock::<W, Stopping>(word);
        });
        until(&STOPS, 1);
        fast_path::unlock_fair::<W, Stopping>(word);
        assert!(!fast_path::try_lock(word), "it is handed over");
        STARTS.store(1, SeqCst);
        until(&STOPS, 2);
        let taken = fast_path::try_lock(word);
        STARTS.store(usize::MAX, SeqCst);
        if taken {
            fast_path::unlock::<W, Stopping>(word);
        }
        taken
    })
}

#[test]
fn a_head_about_to_sleep_keeps_what_was_handed_to_it() {
    let _alone = alone();
    assert!(!is_taken_from_a_head_about_to_sleep(&SplitWord::new()));
    assert!(!is_taken_from_a_head_about_to_sleep(&HighHalfWord::new(7)));
}

const FORGETS: u8 = 1;
const CLEARS_BOTH: u8 = 2;

/// A word that forgets that its lock is to be handed over, or that loses a hand-over with the pending bit.
struct Faulty<const WRONG: u8>(SplitWord);

impl<const WRONG: u8> LockWord for Faulty<WRONG> {
    forward! { 0: bits try_take release_alone release release_to_head clear_hints turn tail swap_tail end_tail address }

    fn set_pending(&self) {
        if WRONG != FORGETS {
            self.0.set_pending();
        }
    }

    fn set_handoff(&self) {
        if WRONG != FORGETS {
            self.0.set_handoff();
        }
    }

    fn clear_pending(&self) {
        match WRONG {
            CLEARS_BOTH => self.0.clear_hints(),
            _ => self.0.clear_pending(),
        }
    }
}

/// The twin: without the bit, a sleeping head is passed by every section.
#[test]
fn the_twin_that_forgets_the_bit_passes_a_sleeping_head() {
    let _alone = alone();
    let word = Faulty::<FORGETS>(SplitWord::new());
    assert_eq!(sections_after_two_sleeps::<_, false>(&word, 0), 100);
    assert_eq!(sections_after_two_sleeps::<_, true>(&word, TURN_NS), 100);
}

/// The twin: a head that clears both bits before it sleeps.
#[test]
fn the_twin_that_clears_both_bits_loses_a_hand_over() {
    let _alone = alone();
    let word = Faulty::<CLEARS_BOTH>(SplitWord::new());
    assert!(is_taken_from_a_head_about_to_sleep(&word));
}
