//! Models in which the lock is handed to the head. They count the hand-overs in all executions of a model, since a model in
//! which none happens would pass, too.

use super::super::high_half_word::HighHalfWord;
use super::super::lock_word::{HANDOFF, LockWord, SplitWord};
use super::forward::forward;
use super::kernel::Kernel;
use super::models::{Guarded, model};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// A word that counts how often it was taken after a hand-over; one that is never handed over, without `HANDS_OVER`.
struct Counting<W, const HANDS_OVER: bool> {
    word: W,
    /// Not loom's: it counts in all executions, and orders nothing.
    hand_overs: Arc<AtomicUsize>,
}

impl<W: LockWord, const HANDS_OVER: bool> LockWord for Counting<W, HANDS_OVER> {
    forward! { word: bits release_alone release set_pending clear_pending clear_hints turn tail swap_tail end_tail address }

    fn try_take(&self, found: u32) -> bool {
        let taken = self.word.try_take(found);
        if taken && found == HANDOFF {
            self.hand_overs.fetch_add(1, Relaxed);
        }
        taken
    }

    fn release_to_head(&self, bit: u32) {
        if HANDS_OVER {
            self.word.release_to_head(bit);
        } else {
            self.word.release();
        }
    }

    fn set_handoff(&self) {
        if HANDS_OVER {
            self.word.set_handoff();
        }
    }
}

type Lock<W, const HANDS_OVER: bool> = Guarded<Counting<W, HANDS_OVER>, Kernel>;

/// Runs the two threads' code in a model, and returns the number of hand-overs in all executions.
fn hand_overs<W: LockWord + Send + Sync + 'static, const HANDS_OVER: bool>(
    new: fn() -> W,
    here: fn(&Lock<W, HANDS_OVER>),
    there: fn(&Lock<W, HANDS_OVER>),
    sections: u32,
) -> usize {
    let counted = Arc::new(AtomicUsize::new(0));
    let hand_overs = Arc::clone(&counted);
    model(Some(2), move || {
        let ours = Guarded::new(Counting {
            word: new(),
            hand_overs: Arc::clone(&hand_overs),
        });
        let theirs = Arc::clone(&ours);
        let thread = thread::spawn(move || there(&theirs));
        here(&ours);
        thread.join().unwrap();
        ours.check(sections);
    });
    counted.load(Relaxed)
}

/// A head that may be woken, and find the lock held again. The sections are long, so that it sleeps twice without a preemption.
fn woken_in_vain<W: LockWord + Send + Sync + 'static, const HANDS_OVER: bool>(new: fn() -> W) -> usize {
    let twice = |lock: &Lock<W, HANDS_OVER>| (0..2).for_each(|_| lock.long_section());
    hand_overs::<W, HANDS_OVER>(new, twice, Guarded::section, 3)
}

/// Fair releases, to a head that sleeps or spins.
fn fair<W: LockWord + Send + Sync + 'static, const HANDS_OVER: bool>(new: fn() -> W) -> usize {
    hand_overs::<W, HANDS_OVER>(new, Guarded::fair_section, Guarded::fair_section, 2)
}

fn high_half() -> HighHalfWord {
    HighHalfWord::new(0)
}

#[test]
fn a_head_that_was_woken_in_vain_is_handed_the_lock() {
    assert!(woken_in_vain::<_, true>(SplitWord::new) > 0);
    assert!(woken_in_vain::<_, true>(high_half) > 0);
}

#[test]
fn a_fair_unlock_hands_the_lock_to_the_head() {
    assert!(fair::<_, true>(SplitWord::new) > 0);
    assert!(fair::<_, true>(high_half) > 0);
}

#[test]
fn the_twin_that_never_hands_over_is_seen() {
    assert_eq!(woken_in_vain::<_, false>(SplitWord::new), 0);
    assert_eq!(fair::<_, false>(SplitWord::new), 0);
}
