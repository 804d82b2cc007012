//! The word of a lock: its owner, and one that fork left.

use crate::error::Refusal;
use crate::patch::owner_word::*;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

const GENERATION: u32 = 7;

#[test]
fn the_owner_is_refused_and_others_wait() {
    static WORD: AtomicU64 = AtomicU64::new(0);
    assert_eq!(acquire(&WORD, GENERATION), Ok(PreviousOwner::None));
    assert_eq!(acquire(&WORD, GENERATION), Err(Refusal::Busy));
    let other = std::thread::spawn(|| {
        let taken = acquire(&WORD, GENERATION);
        release(&WORD);
        taken
    });
    release(&WORD);
    assert_eq!(other.join().unwrap(), Ok(PreviousOwner::None));
    assert_eq!(WORD.load(Relaxed), 0);
}

#[test]
fn a_lock_that_fork_left_owned_is_taken_over() {
    // Another thread of the previous generation.
    let word = AtomicU64::new(me(GENERATION - 1) ^ 1);
    assert_eq!(acquire(&word, GENERATION), Ok(PreviousOwner::LostInFork));
    assert_eq!(word.load(Relaxed), me(GENERATION));
}

#[test]
fn an_owner_that_was_put_back_is_found_again() {
    let lost = me(GENERATION - 1) ^ 1;
    let word = AtomicU64::new(lost);
    let found = replace_while(&word, GENERATION, || false).unwrap().unwrap();
    assert_eq!((found, word.load(Relaxed)), (lost, me(GENERATION)));
    put_back(&word, found);
    assert_eq!(acquire(&word, GENERATION), Ok(PreviousOwner::LostInFork));
    // The twin: one that was released is nobody's.
    release(&word);
    assert_eq!(acquire(&word, GENERATION), Ok(PreviousOwner::None));
}
