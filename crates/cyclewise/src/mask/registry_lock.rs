//! The lock under which handlers are registered and removed.
//!
//! # States
//! The word's low half is 0 while free, else the kernel's id of the owner's thread. Its high half grows with each
//! acquisition.
//!
//! # Invariants
//! 1. A thread owns the lock from the exchange that puts its id in the word until it clears the id. No other thread
//!    replaces an id, unless the kernel says that this process has no such thread: then the owner is a thread of the
//!    parent, in a child of fork, and makes no progress.
//! 2. No word repeats until the high half wraps. So an exchange matches the word that was read, and not a later one of
//!    a thread with a recycled id.
//!
//! # Fork
//! Not held across a fork: atfork handlers of other libraries may register handlers, or wait for a thread that does. A
//! child takes the lock over from a thread that it does not have, whose change is half done;
//! [`registry`](super::registry) allows for that.
//!
//! # Priorities
//! Waiters sleep, for a second at most; see [`waiters`](super::waiters).

use super::hold::{Hold, hold};
use super::waiters::Waiters;
use crate::error::Refusal;
use crate::sys::thread;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One wait; after it, the owner's thread is checked for existence.
const WAIT_NS: u64 = 10_000_000;
/// Waits before giving up. A change takes two system calls.
const WAITS: u32 = 100;
/// The low half.
const THREAD: u64 = u32::MAX as u64;

static WORD: AtomicU64 = AtomicU64::new(0);
static WAITERS: Waiters = Waiters::new();

/// The lock, and a hold of the calling thread.
pub(super) struct RegistryGuard {
    _hold: Hold,
}

impl RegistryGuard {
    /// Takes the lock.
    ///
    /// # Errors
    /// [`SignalsBusy`](Refusal::SignalsBusy) where the calling thread owns it, because a foreign handler interrupted
    /// the section, or where it is not released for a second.
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

/// True if this call took the lock; false if the thread already owns it; `None` while another thread does.
fn take(me: u64) -> Option<bool> {
    let word = WORD.load(Relaxed);
    match word & THREAD {
        0 => exchange(word, me).then_some(true),
        thread => (thread == me).then_some(false),
    }
}

/// Takes it from a thread that does not exist (Invariant 1).
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
        // Release: pairs with the Acquire in `exchange`. Only the owner changes the word (Invariant 1).
        WAITERS.wake_after(|| WORD.store(WORD.load(Relaxed) & !THREAD, Release));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// The state in a child of fork whose parent had another thread changing handlers. No thread has this id: the
    /// kernel's are below 2^22 (`PID_MAX_LIMIT`).
    #[test]
    fn a_thread_that_is_not_there_is_taken_over_and_others_are_not() {
        let gone = THREAD / 2;
        // No other test changes handlers meanwhile: those that do run in their own processes.
        WORD.store(gone, Relaxed);
        drop(RegistryGuard::lock().unwrap());
        let word = WORD.load(Relaxed);
        assert_eq!(word & THREAD, 0);
        assert!(word > THREAD, "counted");
        // The twin: the word has changed since it was read, so it is not taken over.
        WORD.store(word + THREAD + 1 + gone, Relaxed);
        assert!(!exchange(gone, 1) && take(1).is_none());
        WORD.store(word, Relaxed);
        // A lock that this thread owns is neither waited for nor taken over.
        let changing = RegistryGuard::lock().unwrap();
        assert!(RegistryGuard::lock().is_err() && take(1).is_none() && !take_over(1));
        drop(changing);
        assert_eq!(take(1), Some(true));
        WORD.store(0, Relaxed);
    }
}
