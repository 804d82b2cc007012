//! The lock under which handlers are registered and removed.
//!
//! # States
//! The word is 0 while free, else the name of the owner's thread ([`fork`], "Names").
//!
//! # Invariants
//! 1. A thread owns the lock from the exchange that puts its name in the word until it stores 0. No other thread replaces a name,
//!    unless it is of a thread that exists only in the parent, in a child of fork, or that has ended: it makes no progress.
//! 2. An exchange of such a name does not match a later owner's: names are not reused ([`fork`], Invariant 2).
//!
//! # Fork
//! Not held across a fork: atfork handlers of other libraries may register handlers, or wait for a thread that does. A
//! child takes the lock over from a thread that it does not have, whose change is half done;
//! [`registry`](super::registry) allows for that.
//!
//! # Priorities
//! Waiters sleep, for a second at most; see [`waiters`](super::waiters).

use super::fork;
use super::waiters::Waiters;
use crate::error::Refusal;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// One wait; after it, the owner's thread is checked for existence.
const WAIT_NS: u64 = 10_000_000;
/// Waits before giving up. A change takes two system calls.
const WAITS: u32 = 100;

static WORD: AtomicU64 = AtomicU64::new(0);
static WAITERS: Waiters = Waiters::new();

/// The lock, and the calling thread's hold, which is released after it.
pub(super) struct RegistryGuard<Hold> {
    _hold: Hold,
}

impl<Hold> RegistryGuard<Hold> {
    /// Takes the lock, with signals held by `hold`.
    ///
    /// # Errors
    /// [`SignalsBusy`](Refusal::SignalsBusy) where the calling thread owns it, because a foreign handler interrupted
    /// the section, or where it is not released for a second.
    pub(super) fn lock(hold: Hold) -> Result<Self, Refusal> {
        let me = fork::me();
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
    match WORD.load(Relaxed) {
        0 => exchange(0, me).then_some(true),
        owner => (owner == me).then_some(false),
    }
}

/// Takes it from a thread that does not exist (Invariant 1).
fn take_over(me: u64) -> bool {
    let owner = WORD.load(Relaxed);
    (fork::is_of_a_parent(owner) || fork::has_ended(owner)) && exchange(owner, me)
}

fn exchange(owner: u64, me: u64) -> bool {
    // Acquire: pairs with the Release in `drop`.
    WORD.compare_exchange(owner, me, Acquire, Relaxed).is_ok()
}

impl<Hold> Drop for RegistryGuard<Hold> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `exchange`. Only the owner changes the word (Invariant 1).
        WAITERS.wake_after(|| WORD.store(0, Release));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_not_there_is_taken_over_and_others_are_not() {
        let gone = std::thread::spawn(fork::me).join().unwrap();
        // The kernel still knows a joined thread for a moment.
        while !fork::has_ended(gone) {
            std::thread::yield_now();
        }
        // No other test changes handlers meanwhile: those that do run in their own processes.
        WORD.store(gone, Relaxed);
        drop(RegistryGuard::lock(()).unwrap());
        assert_eq!(WORD.load(Relaxed), 0);
        // The twin: the word has changed since it was read, so it is not taken over.
        assert!(!exchange(gone, fork::me()));
        // A lock that this thread owns is neither waited for nor taken over.
        let changing = RegistryGuard::lock(()).unwrap();
        assert!(RegistryGuard::lock(()).is_err() && take(gone).is_none() && !take_over(gone));
        drop(changing);
        assert_eq!(take(fork::me()), Some(true));
        WORD.store(0, Relaxed);
    }
}
