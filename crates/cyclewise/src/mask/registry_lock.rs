//! The lock under which handlers are registered and taken off.
//!
//! # States
//! The word's low half is 0: free. Else the kernel's number of the thread that has it. Its high half grows with each taking.
//!
//! # Invariants
//! 1. Who exchanged the word for one with its own number has the lock until it takes the number out. No other exchanges a word with
//!    a number in it, but where the kernel says that this process has no such thread: then the thread is one of the
//!    parent's, in a child of fork, and will not go on.
//! 2. No word is there twice (until the high half wraps), so that an exchange finds the word that was looked at, and not
//!    a later one of a thread that was given the same number.
//!
//! # Fork
//! Not held across a fork, in which other libraries' handlers may register handlers of their own, or wait for who does. A
//! child takes the lock over from a thread that it does not have, and what that was doing is half done:
//! [`registry`](super::registry) allows for it.
//!
//! # Priorities
//! Waiters sleep, for a second at most; see [`waiters`](super::waiters).

use super::hold::{Hold, hold};
use super::waiters::Waiters;
use crate::error::Refusal;
use crate::sys::thread;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A wait, after which the holder's thread is looked for.
const WAIT_NS: u64 = 10_000_000;
/// Waits before it is given up. A change is two system calls long.
const WAITS: u32 = 100;
/// The low half.
const THREAD: u64 = u32::MAX as u64;

static WORD: AtomicU64 = AtomicU64::new(0);
static WAITERS: Waiters = Waiters::new();

/// The lock, with the thread held.
pub(super) struct RegistryGuard {
    _hold: Hold,
}

impl RegistryGuard {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`SignalsBusy`](Refusal::SignalsBusy) where the calling thread has it already, which a handler of others has
    /// interrupted, or where nobody gives it back for a second.
    pub(super) fn lock() -> Result<Self, Refusal> {
        let hold = hold();
        let me = u64::from(thread::id().cast_unsigned());
        for _ in 0..WAITS {
            match WAITERS.wait(WAIT_NS, || take(me)) {
                Some(true) => return Ok(Self { _hold: hold }),
                Some(false) => break,
                None if take_over(me) => return Ok(Self { _hold: hold }),
                None => {}
            }
        }
        Err(Refusal::SignalsBusy)
    }
}

/// Whether it is ours now; false where it was already; `None` while another thread has it.
fn take(me: u64) -> Option<bool> {
    let word = WORD.load(Relaxed);
    match word & THREAD {
        0 => exchange(word, me).then_some(true),
        thread => (thread == me).then_some(false),
    }
}

/// Takes it from a thread that is not there (Invariant 1).
fn take_over(me: u64) -> bool {
    let word = WORD.load(Relaxed);
    let thread = (word & THREAD) as u32;
    thread != 0 && thread::is_gone(thread.cast_signed()) && exchange(word, me)
}

fn exchange(word: u64, me: u64) -> bool {
    let next = (word & !THREAD).wrapping_add(THREAD + 1) | me;
    // Acquire: pairs with the Release in `drop`.
    WORD.compare_exchange(word, next, Acquire, Relaxed).is_ok()
}

impl Drop for RegistryGuard {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `exchange`. Only we change the word now (Invariant 1).
        WORD.store(WORD.load(Relaxed) & !THREAD, Release);
        WAITERS.wake();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// What a child of fork finds where another thread of its parent was changing handlers. The number is no thread's:
    /// the kernel's are below 2^22 (`PID_MAX_LIMIT`).
    #[test]
    fn a_thread_that_is_not_there_is_taken_over_and_others_are_not() {
        let gone = THREAD / 2;
        // No other test may change handlers meanwhile, and none does: those that do have processes of their own.
        WORD.store(gone, Relaxed);
        drop(RegistryGuard::lock().unwrap());
        let word = WORD.load(Relaxed);
        assert_eq!(word & THREAD, 0);
        assert!(word > THREAD, "counted");
        // The twin of a taking over: the word that was looked at has changed since.
        WORD.store(word + THREAD + 1 + gone, Relaxed);
        assert!(!exchange(gone, 1) && take(1).is_none());
        WORD.store(word, Relaxed);
        // Ours is not waited for, and not given away.
        let changing = RegistryGuard::lock().unwrap();
        assert!(RegistryGuard::lock().is_err() && take(1).is_none() && !take_over(1));
        drop(changing);
        assert_eq!(take(1), Some(true));
        WORD.store(0, Relaxed);
    }
}
