//! The lock of the text: one change at a time in a link unit.
//!
//! # Invariants
//! 1. Text is changed, and a key's state with it, by who holds the lock.
//! 2. Nobody holds it across a fork but a thread that forks inside a change of its own, from a signal handler. A fork that
//!    held it would wait for a thread that changes text under a lock of its own which fork takes too, and would refuse
//!    atfork handlers of others the threads and keys that they ask for.
//! 3. A child forked in the middle of another thread's change has a lock whose owner it has not got. The first taker, at
//!    the latest our handler, takes it over (`owner`) and makes the text whole (`text::settle`); [`was_taken_over`] says that a
//!    key's state may not be what its sites say.
//! 4. A thread that owns it already is refused, not blocked: it is in a signal handler that interrupted its own change.
//!
//! # Waiting
//! Waiters sleep for 50 µs at a time, whatever their priority. It is no futex: it is held for tens of microseconds, seldom,
//! and its words are shared between versions of this crate, so the less protocol the better.

use super::owner_word::{self, PreviousOwner};
use super::text;
use crate::arch::lock::words;
use crate::error::Refusal;
use crate::sys::fork_generation;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::Relaxed;

/// Whether the lock was ever taken over, here or in a process that this one was forked from.
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

/// Whether a change may have been left half done by a thread that stayed behind in the parent (Invariant 3).
pub(crate) fn was_taken_over(_: &TextGuard) -> bool {
    TAKEN_OVER.load(Relaxed) // Written by who had the lock.
}

/// Proof that the calling thread holds the lock; gives it back on drop.
pub(crate) struct TextGuard(core::marker::PhantomData<*const ()>);

/// Takes the lock.
///
/// Ordering: Acquire; what the last holder did happened before.
///
/// # Errors
/// [`Refusal::Busy`] (Invariant 4); ENOMEM where the fork handler could not be registered.
pub(crate) fn lock() -> Result<TextGuard, Refusal> {
    fork::register()?;
    let words = words();
    let from = owner_word::acquire(&words.owner, fork_generation::current_in(&words.generation))?;
    let held = TextGuard(core::marker::PhantomData);
    if from == PreviousOwner::LostInFork {
        TAKEN_OVER.store(true, Relaxed); // The lock orders it.
    }
    text::settle(&held);
    Ok(held)
}

impl Drop for TextGuard {
    fn drop(&mut self) {
        text::forget(self);
        owner_word::release(&words().owner);
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
mod fork {
    use crate::error::Refusal;

    /// Nothing to do: no text is written, and a flag is changed by one store.
    pub(super) fn register() -> Result<(), Refusal> {
        Ok(())
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod fork {
    use super::{lock, owner_word, text, words};
    use crate::error::Refusal;
    use crate::sys::{fork_generation, task};
    use core::sync::atomic::AtomicBool;
    use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    static REGISTERED: AtomicBool = AtomicBool::new(false);

    /// Registers the child's handler. Two threads at once may both do it: twice is as good as once.
    pub(super) fn register() -> Result<(), Refusal> {
        // Acquire: pairs with the Release below.
        if !REGISTERED.load(Acquire) {
            task::in_child(in_child)?;
            // Release: pairs with the Acquire above.
            REGISTERED.store(true, Release);
        }
        Ok(())
    }

    extern "C" fn in_child() {
        let words = words();
        owner_word::adopt(&words.owner, fork_generation::current_in(&words.generation));
        // Relaxed: the child reads what fork has copied. A change that this thread is in itself is refused, and goes on.
        if words.owner.load(Relaxed) != 0 || text::is_recorded() {
            drop(lock());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_at_a_time_and_the_owner_is_told() {
        let held = lock().unwrap();
        assert_eq!(lock().err(), Some(Refusal::Busy));
        let other = std::thread::spawn(|| drop(lock().unwrap()));
        drop(held);
        other.join().unwrap();
        drop(lock().unwrap());
    }
}
