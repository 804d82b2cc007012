//! The word's two layouts, each compared with the table of states, and what a fork leaves behind.
//!
//! # Safety
//! 1. A child of fork claims a node and makes a system call at most. It takes no lock of the C library.
#![expect(unsafe_code, reason = "a child of fork")]

use super::super::fast_path;
use super::super::high_half_word::HighHalfWord;
use super::super::lock_word::{HANDOFF, LOCKED, LockWord, NO_TAIL, PENDING, SplitWord};
use super::super::nodes::{NodeIndex, claim};
use super::super::relax::Pause;
use super::super::{Futex, SpinOnly};
use core::sync::atomic::Ordering::Relaxed;

/// Every state, and the result of each operation in it.
fn follows_the_table<W: LockWord>(word: &W) {
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));
    // Only a queue's head sets PENDING.
    assert_eq!(word.swap_tail(1), NO_TAIL);
    assert!(word.try_take(0) && !word.try_take(0) && !word.try_take(PENDING));
    assert_eq!(word.bits(), LOCKED);
    word.set_pending();
    assert_eq!(word.bits(), LOCKED | PENDING);
    // Setting it twice changes nothing.
    word.set_pending();
    word.release();
    assert_eq!(word.bits(), PENDING);
    // Not held, so the bit is not set again; and reserved, so newcomers fail.
    word.set_pending();
    assert_eq!(word.bits(), PENDING);
    assert!(!word.try_take(0) && word.try_take(PENDING));
    assert_eq!(word.bits(), LOCKED);
    word.set_pending();
    word.clear_pending();
    assert_eq!(word.bits(), LOCKED);
    word.set_pending();
    word.clear_hints();
    assert_eq!(word.bits(), LOCKED);
    word.release();
    assert_eq!(word.bits(), 0);
    assert!(word.try_take(0));
    word.release_to_head(PENDING);
    assert_eq!(word.bits(), PENDING);
    word.clear_hints();
    assert_eq!(word.bits(), 0);

    assert!(word.try_take(0));
    word.set_pending();
    word.release_to_head(PENDING);
    assert_eq!(word.bits(), PENDING);
    word.clear_hints();

    // Handed over.
    assert!(word.try_take(0));
    word.set_handoff();
    assert_eq!(word.bits(), LOCKED | HANDOFF);
    word.set_pending();
    assert_eq!(word.bits(), LOCKED | HANDOFF);
    word.release();
    assert_eq!(word.bits(), HANDOFF);
    word.set_handoff();
    word.clear_pending();
    assert_eq!(word.bits(), HANDOFF);
    assert!(!word.try_take(0) && !word.try_take(PENDING) && word.try_take(HANDOFF));
    assert_eq!(word.bits(), LOCKED);
    word.set_pending();
    word.set_handoff();
    assert_eq!(word.bits(), LOCKED | HANDOFF);
    word.clear_hints();
    assert_eq!(word.bits(), LOCKED);
    word.release_to_head(HANDOFF);
    assert_eq!(word.bits(), HANDOFF);
    word.clear_hints();
    assert_eq!(word.bits(), 0);
    assert!(word.end_tail(1));
}

/// The tail is independent of the bits.
fn keeps_the_tail<W: LockWord>(word: &W) {
    assert_eq!(word.swap_tail(u16::MAX - 1), NO_TAIL);
    follows_the_bits(word, u16::MAX - 1);
    assert_eq!(word.swap_tail(7), u16::MAX - 1);
    assert!(!word.end_tail(u16::MAX - 1));
    follows_the_bits(word, 7);
    assert!(word.end_tail(7));
    assert_eq!(word.tail(), NO_TAIL);
}

fn follows_the_bits<W: LockWord>(word: &W, tail: u16) {
    assert!(word.try_take(0));
    assert_eq!((word.bits(), word.tail()), (LOCKED, tail));
    word.set_pending();
    assert_eq!((word.bits(), word.tail()), (LOCKED | PENDING, tail));
    word.release();
    assert_eq!((word.bits(), word.tail()), (PENDING, tail));
    word.clear_hints();
    assert_eq!((word.bits(), word.tail()), (0, tail));
}

/// A node for a waiter of the lock at `key`. Another test claims them all for a moment.
fn node(key: usize) -> NodeIndex {
    loop {
        match claim(key) {
            Some(node) => break node,
            None => std::thread::yield_now(),
        }
    }
}

/// The fast paths, without waiters.
fn locks_and_unlocks<W: LockWord>(word: &W) {
    fast_path::lock::<_, SpinOnly, Pause>(word);
    assert!(fast_path::is_locked(word) && !fast_path::try_lock(word));
    fast_path::unlock::<_, SpinOnly>(word);
    assert!(!fast_path::is_locked(word) && fast_path::try_lock(word));
    fast_path::unlock_fair::<_, SpinOnly>(word);
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));

    // Reserved for a head that has given up: `try_lock` and `lock` succeed.
    assert!(word.try_take(0));
    word.release_to_head(PENDING);
    assert!(fast_path::try_lock(word));
    word.release_to_head(PENDING);
    fast_path::lock::<_, SpinOnly, Pause>(word);
    fast_path::unlock::<_, SpinOnly>(word);
    assert_eq!((word.bits(), word.tail()), (0, NO_TAIL));

    // Reserved for a head that waits: `try_lock` fails.
    let waiter = node(word.address());
    assert_eq!(word.swap_tail(waiter.number()), NO_TAIL);
    assert!(word.try_take(0));
    fast_path::unlock_fair::<_, SpinOnly>(word);
    assert_eq!(word.bits(), PENDING);
    assert!(!fast_path::try_lock(word));
    assert!(word.try_take(PENDING));
    fast_path::unlock_fair::<_, Futex>(word);
    assert_eq!(word.bits(), HANDOFF);
    assert!(!fast_path::try_lock(word));
    assert!(word.end_tail(waiter.number()));
    word.clear_hints();

    // Reserved, with a tail that waits for another lock, as a fork may leave it: there is no waiter.
    let stranger = node(0);
    assert_eq!(word.swap_tail(stranger.number()), NO_TAIL);
    assert!(word.try_take(0));
    word.release_to_head(PENDING);
    assert!(fast_path::try_lock(word));
    word.release();
    assert!(word.try_take(0));
    word.release_to_head(HANDOFF);
    assert!(fast_path::try_lock(word));
    word.release();
    assert!(word.end_tail(stranger.number()));

    // The same, with a tail that another process wrote, whose node a thread of this one has claimed for this lock.
    let left = waiter.of_the_parent();
    assert_eq!(word.swap_tail(left.number()), NO_TAIL);
    for bit in [PENDING, HANDOFF] {
        assert!(word.try_take(0));
        word.release_to_head(bit);
        assert!(fast_path::try_lock(word));
        word.release();
    }
    assert!(!word.end_tail(waiter.number()) && word.end_tail(left.number()));
    waiter.node().free();
    stranger.node().free();
}

#[test]
fn a_lock_of_8_bytes() {
    assert_eq!((size_of::<SplitWord>(), align_of::<SplitWord>()), (8, 4));
    let word = SplitWord::new();
    follows_the_table(&word);
    keeps_the_tail(&word);
    locks_and_unlocks(&word);
}

#[test]
fn the_high_half_leaves_the_low_half_alone() {
    let low = 0x8765_4321_u32;
    let word = HighHalfWord::new(low);
    follows_the_table(&word);
    keeps_the_tail(&word);
    locks_and_unlocks(&word);
    let whole = word.whole().load(Relaxed);
    assert_eq!(whole, u64::from(low), "free, and the same below");
}

#[test]
fn the_low_half_may_change_while_the_lock_is_held() {
    let word = HighHalfWord::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    fast_path::lock::<_, super::super::raw::DefaultPark, Pause>(&word);
                    // The holder's, in two steps: another thread in between would be noticed.
                    let found = word.whole().load(Relaxed);
                    word.whole().fetch_add(1, Relaxed);
                    let now = word.whole().load(Relaxed);
                    assert_eq!(now as u32 - found as u32, 1);
                    fast_path::unlock::<_, super::super::raw::DefaultPark>(&word);
                }
            });
        }
    });
    assert_eq!(word.whole().load(Relaxed), 40_000);
}

/// The parent's tail names a node that is free in a child, which claims it for the same lock.
#[test]
fn a_childs_claim_does_not_make_its_parents_tail_a_waiter() {
    use super::super::nodes::is_waited_for;
    use crate::sys::for_tests::fork;
    static WORD: SplitWord = SplitWord::new();
    let waiter = node(WORD.address());
    WORD.swap_tail(waiter.number());
    assert!(is_waited_for(&WORD));
    waiter.node().free();
    let child = || {
        let left = NodeIndex::from_tail(WORD.tail()).expect("the parent's");
        // Another test's thread may have had it at the fork, and has it for good then.
        let Some(claimed) = left.claim_again(WORD.address()) else {
            return;
        };
        assert_ne!(claimed.number(), left.number());
        assert!(!is_waited_for(&WORD));
        // The same node says so of its own tail.
        assert_eq!(WORD.swap_tail(claimed.number()), left.number());
        assert!(is_waited_for(&WORD));
    };
    // SAFETY: Invariant 1.
    assert_eq!(unsafe { fork::child(child, core::time::Duration::from_secs(600)) }, 0);
    assert!(WORD.end_tail(waiter.number()));
}

/// A head that slept while its process forked stays registered in the child until another head replaces it.
#[test]
fn a_sleeper_that_a_fork_left_behind_is_replaced() {
    use super::super::sleepers::sleepers;
    // An address that no other test uses.
    static KEY: SplitWord = SplitWord::new();
    let (first, second) = (node(KEY.address()), node(KEY.address()));
    // Another test's lock may share the entry for a moment.
    let left = loop {
        match sleepers().register(KEY.address(), first) {
            Some(registration) => break registration,
            None => std::thread::yield_now(),
        }
    };
    assert!(
        sleepers().register(KEY.address(), second).is_none(),
        "the first is registered"
    );
    first.node().leave_behind();
    let registered = loop {
        match sleepers().register(KEY.address(), second) {
            Some(registration) => break registration,
            None => std::thread::yield_now(),
        }
    };
    // A registration that was replaced is not removed or counted again.
    sleepers().unregister(KEY.address(), left);
    assert!(sleepers().any());
    sleepers().unregister(KEY.address(), registered);
    first.node().free();
    second.node().free();
}
