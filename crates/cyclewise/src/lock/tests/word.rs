//! The word's two shapes, each against what its states mean.

use super::super::fast;
use super::super::high_half::HighHalf;
use super::super::park::SpinOnly;
use super::super::relax::Pause;
use super::super::slots::{Place, claim};
use super::super::word::{LOCKED, NOBODY, PENDING, Split, Word};
use core::sync::atomic::Ordering::Relaxed;

/// Every state, and what each operation makes of it.
fn follows_the_table<W: Word>(word: &W) {
    assert_eq!((word.look(), word.tail()), (0, NOBODY));
    assert!(word.take(0) && !word.take(0) && !word.take(PENDING));
    assert_eq!(word.look(), LOCKED);
    word.request();
    assert_eq!(word.look(), LOCKED | PENDING);
    // What is asked for twice is asked for.
    word.request();
    word.release();
    assert_eq!(word.look(), PENDING);
    // Nobody holds it, so there is nothing to ask for; and it is not free for all.
    word.request();
    assert_eq!(word.look(), PENDING);
    assert!(!word.take(0) && word.take(PENDING));
    assert_eq!(word.look(), LOCKED);
    word.request();
    word.withdraw();
    assert_eq!(word.look(), LOCKED);
    word.release();
    assert_eq!(word.look(), 0);
    assert!(word.take(0));
    word.release_to_head();
    assert_eq!(word.look(), PENDING);
    word.withdraw();
    assert_eq!(word.look(), 0);

    assert!(word.take(0));
    word.request();
    word.release_to_head();
    assert_eq!(word.look(), PENDING);
    word.withdraw();
}

/// The tail is apart from the bits.
fn keeps_the_tail<W: Word>(word: &W) {
    assert_eq!(word.swap_tail(u16::MAX - 1), NOBODY);
    follows_the_bits(word, u16::MAX - 1);
    assert_eq!(word.swap_tail(7), u16::MAX - 1);
    assert!(!word.end_tail(u16::MAX - 1));
    follows_the_bits(word, 7);
    assert!(word.end_tail(7));
    assert_eq!(word.tail(), NOBODY);
}

fn follows_the_bits<W: Word>(word: &W, tail: u16) {
    assert!(word.take(0));
    assert_eq!((word.look(), word.tail()), (LOCKED, tail));
    word.request();
    assert_eq!((word.look(), word.tail()), (LOCKED | PENDING, tail));
    word.release();
    assert_eq!((word.look(), word.tail()), (PENDING, tail));
    word.withdraw();
    assert_eq!((word.look(), word.tail()), (0, tail));
}

/// A place in the queue of the lock `key`. Another test has them all for a moment.
fn place(key: usize) -> Place {
    loop {
        match claim(key) {
            Some(place) => break place,
            None => std::thread::yield_now(),
        }
    }
}

/// The fast paths, where nobody waits.
fn locks_and_unlocks<W: Word>(word: &W) {
    fast::lock::<_, SpinOnly, Pause>(word);
    assert!(fast::is_locked(word) && !fast::try_lock(word));
    fast::unlock::<_, SpinOnly>(word);
    assert!(!fast::is_locked(word) && fast::try_lock(word));
    fast::unlock_fair::<_, SpinOnly>(word);
    assert_eq!((word.look(), word.tail()), (0, NOBODY));

    // Kept for somebody who has given up: neither a try nor a wait is stuck.
    assert!(word.take(0));
    word.release_to_head();
    assert!(fast::try_lock(word));
    word.release_to_head();
    fast::lock::<_, SpinOnly, Pause>(word);
    fast::unlock::<_, SpinOnly>(word);
    assert_eq!((word.look(), word.tail()), (0, NOBODY));

    // Kept for somebody who is there: a try is no way past.
    let waiter = place(word.key());
    assert_eq!(word.swap_tail(waiter.number()), NOBODY);
    assert!(word.take(0));
    fast::unlock_fair::<_, SpinOnly>(word);
    assert_eq!(word.look(), PENDING);
    assert!(!fast::try_lock(word));
    assert!(word.end_tail(waiter.number()));
    word.withdraw();

    // Kept for somebody whose lock is another, as fork may leave it: nobody is there.
    let stranger = place(0);
    assert_eq!(word.swap_tail(stranger.number()), NOBODY);
    assert!(word.take(0));
    word.release_to_head();
    assert!(fast::try_lock(word));
    word.release();
    assert!(word.end_tail(stranger.number()));
    waiter.slot().free();
    stranger.slot().free();
}

#[test]
fn a_lock_of_4_bytes() {
    assert_eq!((size_of::<Split>(), align_of::<Split>()), (4, 4));
    let word = Split::new();
    follows_the_table(&word);
    keeps_the_tail(&word);
    locks_and_unlocks(&word);
}

#[test]
fn the_high_half_leaves_the_low_half_alone() {
    let low = 0x8765_4321_u32;
    let word = HighHalf::new(low);
    follows_the_table(&word);
    keeps_the_tail(&word);
    locks_and_unlocks(&word);
    let whole = word.whole().load(Relaxed);
    assert_eq!(whole, u64::from(low), "free, and the same below");
}

#[test]
fn the_high_half_does_not_mind_the_low_half_changing() {
    let word = HighHalf::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    fast::lock::<_, super::super::raw::DefaultPark, Pause>(&word);
                    // The holder's, by two steps that would lose updates if others came between.
                    let found = word.whole().load(Relaxed);
                    word.whole().fetch_add(1, Relaxed);
                    let now = word.whole().load(Relaxed);
                    assert_eq!(now as u32 - found as u32, 1);
                    fast::unlock::<_, super::super::raw::DefaultPark>(&word);
                }
            });
        }
    });
    assert_eq!(word.whole().load(Relaxed), 40_000);
}

/// A head that slept while its process forked is put down in the child for good, unless it makes way.
#[test]
fn a_sleeper_that_fork_has_left_behind_makes_way() {
    use super::super::sleepers::sleepers;
    // An address that no other test has a lock at.
    static KEY: Split = Split::new();
    let (first, second) = (place(KEY.key()), place(KEY.key()));
    // Another test's lock may share the entry for a moment.
    let left = loop {
        match sleepers().register(KEY.key(), first) {
            Some(registration) => break registration,
            None => std::thread::yield_now(),
        }
    };
    assert!(sleepers().register(KEY.key(), second).is_none(), "it is there");
    first.slot().leave_behind();
    let registered = loop {
        match sleepers().register(KEY.key(), second) {
            Some(registration) => break registration,
            None => std::thread::yield_now(),
        }
    };
    // What is out already is not taken out, or counted off, again.
    sleepers().withdraw(KEY.key(), left);
    assert!(sleepers().any());
    sleepers().withdraw(KEY.key(), registered);
    first.slot().free();
    second.slot().free();
}
