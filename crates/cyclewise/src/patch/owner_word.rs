//! A lock in one word whose owner is told from a thread that stayed behind in the process this one was forked from.
//!
//! Nothing is done about it around a fork: no handler takes it and none gives it back, so a fork never waits for it, and
//! handlers of others may take it in any order. A child that finds it taken by a thread that it has not got takes it over.
//!
//! # States
//! 0: free. Else the owner: the process's generation (`sys::fork_generation`) in the upper half, and in the lower what the
//! C library calls the thread, which is the same in the child that this thread forks.
//!
//! # Invariants
//! 1. Only its owner frees the word, and only a taker changes it otherwise: from 0, or from an owner of another generation,
//!    whom fork has copied and who is not here.
//! 2. A thread that forks while it is the owner, from a signal handler inside the section, is the owner in the child too.
//!
//! # Memory ordering
//! Taking acquires, giving back releases.
//!
//! # Waiting
//! Waiters sleep: sections are short and seldom, and the owner may be a thread of a lower priority on the same CPU.

use crate::error::Refusal;
use crate::sys::task;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// From whom a lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PreviousOwner {
    /// Nobody: the last owner gave it back.
    None,
    /// A thread that stayed behind in the parent, in the middle of whatever it did.
    LostInFork,
}

/// Takes the lock, for a thread of the process of this generation.
///
/// # Errors
/// [`Refusal::Busy`] where the calling thread is the owner: from a signal handler inside the section.
pub(super) fn acquire(word: &AtomicU64, process: u32) -> Result<PreviousOwner, Refusal> {
    let me = me(process);
    let mut found = word.load(Relaxed);
    loop {
        let from = match found {
            0 => PreviousOwner::None,
            _ if is_mine(found, me) => return Err(Refusal::Busy),
            _ if generation(found) != generation(me) => PreviousOwner::LostInFork,
            _ => {
                task::nap();
                found = word.load(Relaxed);
                continue;
            }
        };
        // Acquire: pairs with the Release in `release`.
        match word.compare_exchange_weak(found, me, Acquire, Relaxed) {
            Ok(_) => return Ok(from),
            Err(now) => found = now,
        }
    }
}

/// Gives back a lock that the calling thread owns.
pub(super) fn release(word: &AtomicU64) {
    // Release: pairs with the Acquire in `acquire`.
    word.store(0, Release);
}

/// In a child's fork handler: an owner that forked is one under the number of this process, whoever asks from now on.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn adopt(word: &AtomicU64, process: u32) {
    let me = me(process);
    let found = word.load(Relaxed);
    if found != 0 && is_mine(found, me) {
        // Relaxed: fails where it was adopted already.
        let _ = word.compare_exchange(found, me, Relaxed, Relaxed);
    }
}

/// The calling thread, as the word has it.
fn me(process: u32) -> u64 {
    u64::from(process) << 32 | u64::from(task::token())
}

const fn generation(owner: u64) -> u32 {
    (owner >> 32) as u32
}

/// Whether `owner` is the calling thread, here or before it forked (Invariant 2): then it is the child's first.
fn is_mine(owner: u64, me: u64) -> bool {
    owner as u32 == me as u32 && (generation(owner) == generation(me) || task::is_first())
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn what_a_thread_of_another_process_left_is_taken_over() {
        // Somebody else of the generation before.
        let word = AtomicU64::new(me(GENERATION - 1) ^ 1);
        assert_eq!(acquire(&word, GENERATION), Ok(PreviousOwner::LostInFork));
        assert_eq!(word.load(Relaxed), me(GENERATION));
    }
}
