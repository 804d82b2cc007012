//! The text lock: one change of the text at a time in a link unit. Who changes another unit's text takes that unit's lock as well.
//!
//! # Invariants
//! 1. Only the lock's holder changes text, and a key's state with it.
//! 2. Nobody holds the lock across a fork, except a thread that forks inside its own change, from a signal handler.
//!    Otherwise a fork would wait for a thread that changes text under a lock that fork also takes, and would refuse
//!    threads and keys to foreign atfork handlers.
//! 3. A child forked in the middle of another thread's change inherits a lock whose owner it does not have. The first
//!    taker, at the latest our atfork handler, takes it over (`owner_word`) and settles the change (`text::settle`).
//!    [`was_taken_over`] says that a key's state and its sites may differ.
//! 4. A thread that already owns it is refused, not blocked: it runs a signal handler that interrupted its own change.
//!
//! # Waiting
//! Waiters sleep for 50 µs at a time, whatever their priority. It is not a futex: it is held rarely and for tens of
//! microseconds, and versions of this crate share its words, so the protocol stays minimal.

#[cfg_attr(not(target_arch = "x86_64"), path = "no_fork.rs")]
mod fork;

use super::owner_word::{self, PreviousOwner};
use super::text;
use super::text_guard::{OtherGuard, TextGuard};
use crate::arch::text_lock::{Words, words};
use crate::error::Refusal;
use crate::sys::{fork_generation, thread};
use core::marker::PhantomData;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

/// Whether the lock was ever taken over, in this process or an ancestor by fork.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

/// Whether a thread that exists only in the parent may have left a change half done (Invariant 3).
pub(crate) fn was_taken_over(_: &TextGuard) -> bool {
    TAKEN_OVER.load(Relaxed) // Only the lock's holder writes it.
}

/// Takes the lock.
///
/// Ordering: Acquire; pairs with the last holder's Release.
///
/// # Errors
/// [`Refusal::Busy`] (Invariant 4); ENOMEM where the fork handler could not be registered.
pub(crate) fn lock() -> Result<TextGuard, Refusal> {
    fork::register()?;
    let words = words();
    let from = owner_word::acquire(&words.owner, fork_generation::current_in(&words.generation))?;
    let held = TextGuard(PhantomData);
    if from == PreviousOwner::LostInFork {
        TAKEN_OVER.store(true, Relaxed); // The lock orders it.
    }
    text::settle(&held);
    Ok(held)
}

/// Proof that the calling thread holds this link unit's lock and another one's; releases both on drop.
pub(crate) struct BothGuards {
    // Released first: the record of a change is cleared before anybody else changes that text.
    own: TextGuard,
    other: Option<OtherGuard>,
}

impl BothGuards {
    pub(crate) fn own(&self) -> &TextGuard {
        &self.own
    }

    /// [`was_taken_over`], of either.
    pub(crate) fn was_taken_over(&self) -> bool {
        was_taken_over(&self.own) || self.other.as_ref().is_some_and(|other| other.found() != 0)
    }
}

/// Takes this link unit's lock and `other`, which may be the same.
///
/// Never waits for one with the other taken: a coordinator waits for the locks of its units with its own taken.
///
/// # Errors
/// As [`lock`].
pub(crate) fn lock_with(other: &'static Words) -> Result<BothGuards, Refusal> {
    loop {
        let own = lock()?;
        if core::ptr::eq(other, words()) {
            return Ok(BothGuards { own, other: None });
        }
        if let Some(other) = OtherGuard::take(other, || false)? {
            let other = Some(other);
            return Ok(BothGuards { own, other });
        }
        drop(own);
        thread::nap();
    }
}

impl Drop for TextGuard {
    fn drop(&mut self) {
        text::forget(self);
        owner_word::release(&words().owner);
    }
}
