//! Loom models of the real algorithm with two or three threads.
//!
//! The value is a [`Checked`] one, so a data race fails a model. So does a thread that is never woken.
//! Models of three threads allow two or three preemptions; models of two threads have no limit.

use super::super::fast_path;
use super::super::high_half_word::HighHalfWord;
use super::super::lock_word::{HANDOFF, LockWord, SplitWord};
use super::super::nodes::NodeIndex;
use super::super::nodes::for_tests::all_free;
use super::super::park::Park;
use super::super::relax::Pause;
use super::kernel::{Kernel, Looks, NOTHING, REFUSED};
use crate::primitive::threads::Checked;
use core::sync::atomic::Ordering::Relaxed;
use loom::thread;
use std::marker::PhantomData;
use std::sync::Arc;

/// A lock and its value.
pub(super) struct Guarded<W, P> {
    pub(super) word: W,
    value: Checked<u32>,
    park: PhantomData<fn() -> P>,
}

impl<W: LockWord, P: Park> Guarded<W, P> {
    pub(super) fn new(word: W) -> Arc<Self> {
        Arc::new(Self {
            word,
            value: Checked::new(0),
            park: PhantomData,
        })
    }

    /// Called by the holder.
    fn add(&self) {
        self.value.replace(self.value.get() + 1);
    }

    pub(super) fn section(&self) {
        fast_path::lock::<W, P, Pause>(&self.word);
        self.add();
        fast_path::unlock::<W, P>(&self.word);
    }

    /// A section in which the head of the queue runs twice: it sets the pending bit, and goes to sleep.
    pub(super) fn long_section(&self) {
        fast_path::lock::<W, P, Pause>(&self.word);
        (0..2).for_each(|_| thread::yield_now());
        self.add();
        fast_path::unlock::<W, P>(&self.word);
    }

    pub(super) fn fair_section(&self) {
        fast_path::lock::<W, P, Pause>(&self.word);
        self.add();
        fast_path::unlock_fair::<W, P>(&self.word);
    }

    fn timed_section(&self, until: P::Deadline) -> bool {
        let locked = fast_path::lock_until::<W, P, Pause>(&self.word, until);
        if locked {
            self.add();
            fast_path::unlock::<W, P>(&self.word);
        }
        locked
    }

    /// After all threads have ended: all sections ran, and the lock is in its initial state.
    pub(super) fn check(&self, sections: u32) {
        self.section();
        assert_eq!(self.value.get(), sections + 1, "every section ran once");
        assert!(!fast_path::is_locked(&self.word), "no thread holds it");
        assert_eq!(self.word.tail(), 0, "nobody waits");
        assert!(all_free(), "every node is free");
    }
}

/// Runs the model with at most `preemptions` preemptions; `None`: no limit.
pub(super) fn model(preemptions: Option<usize>, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(run);
}

/// Two threads, a section each.
pub(super) fn two<W: LockWord + Send + Sync + 'static, P: Park>(new: fn() -> W) {
    model(None, move || {
        let here = Guarded::<W, P>::new(new());
        let there = Arc::clone(&here);
        let thread = thread::spawn(move || there.section());
        here.section();
        thread.join().unwrap();
        here.check(2);
    });
}

/// Three threads, a section each, so that there is a waiter behind the head.
pub(super) fn three<W: LockWord + Send + Sync + 'static, P: Park>(preemptions: usize, new: fn() -> W) {
    model(Some(preemptions), move || {
        let here = Guarded::<W, P>::new(new());
        let threads = [(); 2].map(|()| {
            let there = Arc::clone(&here);
            thread::spawn(move || there.section())
        });
        here.section();
        for thread in threads {
            thread.join().unwrap();
        }
        here.check(3);
    });
}

/// Far more than a waiter needs whom another serves.
const MANY_LOOKS: u32 = 16;

/// Two threads at a lock that a fork has left handed over, with a tail that its parent's thread wrote. In this process the tail's
/// node is free, and the first of the two to search claims it.
pub(super) fn left_behind<W: LockWord + Send + Sync + 'static>(new: fn() -> W) {
    model(Some(3), move || {
        let here = Guarded::<W, Kernel>::new(new());
        assert!(here.word.try_take(0));
        here.word.release_to_head(HANDOFF);
        here.word.swap_tail(NodeIndex::first().of_the_parent().number());
        let there = Arc::clone(&here);
        // Deadlines and not a block for ever: loom fails a deadlock in a thread whose guard unwinds into loom again.
        let served =
            |lock: &Guarded<W, Kernel>| assert!(lock.timed_section(Looks(MANY_LOOKS)), "each waits for the other");
        let thread = thread::spawn(move || served(&there));
        served(&here);
        thread.join().unwrap();
        here.check(2);
    });
}

fn high_half() -> HighHalfWord {
    HighHalfWord::new(0)
}

#[test]
fn two_take_turns() {
    two::<SplitWord, Kernel>(SplitWord::new);
}

#[test]
fn two_take_turns_at_the_high_half() {
    two::<HighHalfWord, Kernel>(high_half);
}

#[test]
fn two_take_turns_where_the_barrier_is_refused() {
    two::<SplitWord, Kernel<REFUSED>>(SplitWord::new);
}

#[test]
fn three_take_turns() {
    three::<SplitWord, Kernel>(3, SplitWord::new);
}

#[test]
fn three_take_turns_at_the_high_half() {
    three::<HighHalfWord, Kernel>(2, high_half);
}

/// The holder, a waiter whose deadline passes after this many checks, and a waiter that stays.
fn leaves_after(looks: u32) {
    model(Some(3), move || {
        let here = Guarded::<SplitWord, Kernel>::new(SplitWord::new());
        fast_path::lock::<_, Kernel, Pause>(&here.word);
        let [leaver, stayer] = [(); 2].map(|()| Arc::clone(&here));
        let leaver = thread::spawn(move || u32::from(leaver.timed_section(Looks(looks))));
        let stayer = thread::spawn(move || stayer.section());
        here.add();
        fast_path::unlock::<_, Kernel>(&here.word);
        let locked = leaver.join().unwrap();
        stayer.join().unwrap();
        here.check(2 + locked);
    });
}

#[test]
fn a_waiter_leaves_before_it_sleeps() {
    leaves_after(0);
}

#[test]
fn a_waiter_leaves_from_its_sleep() {
    leaves_after(2);
}

#[test]
fn a_waiter_leaves_late() {
    leaves_after(3);
}

#[test]
fn a_tail_that_a_fork_left_behind_is_not_queued_behind() {
    left_behind::<SplitWord>(SplitWord::new);
    left_behind::<HighHalfWord>(high_half);
}

#[test]
fn the_low_half_is_the_holders() {
    model(Some(3), || {
        let here = Arc::new(HighHalfWord::new(0));
        let there = Arc::clone(&here);
        let section = |word: &HighHalfWord| {
            fast_path::lock::<_, Kernel<NOTHING>, Pause>(word);
            let before = word.whole().load(Relaxed) as u32;
            word.whole().fetch_add(1, Relaxed);
            assert_eq!(word.whole().load(Relaxed) as u32, before + 1, "exclusive");
            fast_path::unlock::<_, Kernel<NOTHING>>(word);
        };
        let thread = thread::spawn(move || section(&there));
        section(&here);
        thread.join().unwrap();
        assert_eq!(here.whole().load(Relaxed), 2);
    });
}
