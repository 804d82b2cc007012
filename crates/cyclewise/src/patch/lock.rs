//! The lock of the text: one change at a time in a link unit, and none across a fork.
//!
//! # States
//! `owner` 0: free. `owner` t: thread t holds it, `depth` times: 1 for a change, and more while it forks inside one.
//!
//! It spins and yields; it is no futex. It is held for tens of microseconds, seldom, and its words are shared between
//! versions of this crate, so the less protocol the better. Threads of a real-time class that outrank the holder on its
//! CPU would spin for as long as their class lets them: change text from ordinary threads.
//!
//! # Invariants
//! 1. Who is not the owner changes neither word, but for taking a free lock. `depth` is the owner's own.
//! 2. A fork finds the lock in the hands of the forking thread: the handlers take it before and give it back in parent
//!    and child. A child thus inherits neither a lock whose holder it does not have, nor a text half changed by another
//!    thread. But for a fork that had begun before the handlers were registered, and where no text is written and none are:
//!    such a child takes the lock over from who is not there. Each edit is whole; [`was_left`] says that a batch may not
//!    be. `_Fork`, raw clone and vfork run no handlers; of these only a child of `_Fork` could change text, and must not
//!    where its parent had threads.
//! 3. A thread that owns it already is refused, not blocked: it is in a signal handler that interrupted its own change.

use crate::arch::lock::words;
use crate::error::Refusal;
use crate::sys::task;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Whether the lock was ever taken over, here or in a process that this one was forked from.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Whether a change may have been left half done by a thread that stayed behind in the parent (Invariant 2).
pub(crate) fn was_left(_: &Held) -> bool {
    LEFT.load(Relaxed) // Written by who had the lock.
}

/// Proof that the calling thread holds the lock; gives it back on drop.
pub(crate) struct Held(core::marker::PhantomData<*const ()>);

/// Takes the lock.
///
/// Ordering: Acquire; what the last holder did happened before.
///
/// # Errors
/// [`Refusal::Busy`] (Invariant 3); ENOMEM where the fork handlers could not be registered.
pub(crate) fn hold() -> Result<Held, Refusal> {
    fork::prepare_for_forks()?;
    let me = task::current_tid();
    // Relaxed: pairs with nothing; only this thread ever stores its own number.
    if words().owner.load(Relaxed) == me {
        return Err(Refusal::Busy);
    }
    take(me);
    Ok(Held(core::marker::PhantomData))
}

/// Spins until the lock is this thread's.
fn take(me: i32) {
    let words = words();
    // Acquire: pairs with the Release in `give_back`.
    while let Err(owner) = words.owner.compare_exchange_weak(0, me, Acquire, Relaxed) {
        if owner == 0 || !task::is_gone(owner) {
            task::yield_now();
        } else if words.owner.compare_exchange(owner, me, Acquire, Relaxed).is_ok() {
            // Relaxed: the lock orders it.
            LEFT.store(true, Relaxed);
            break;
        }
    }
    words.depth.store(1, Relaxed); // The owner's own (Invariant 1).
}

/// One less; free where it was the last.
fn give_back() {
    let words = words();
    let depth = words.depth.load(Relaxed); // The owner's own (Invariant 1).
    words.depth.store(depth.wrapping_sub(1), Relaxed);
    if depth == 1 {
        // Release: pairs with the Acquire in `take`.
        words.owner.store(0, Release);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        give_back();
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
mod fork {
    use crate::error::Refusal;

    /// Nothing to do: no text is written, and a flag is changed by one store.
    pub(super) fn prepare_for_forks() -> Result<(), Refusal> {
        Ok(())
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod fork {
    use super::{give_back, take, words};
    use crate::error::Refusal;
    use crate::sys::task;
    use core::sync::atomic::AtomicBool;
    use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

    static REGISTERED: AtomicBool = AtomicBool::new(false);

    /// Registers the handlers. Two threads at once may both do it: the handlers nest, so twice is as good as once.
    pub(super) fn prepare_for_forks() -> Result<(), Refusal> {
        // Acquire: pairs with the Release below.
        if !REGISTERED.load(Acquire) {
            task::at_fork(before, in_parent, in_child)?;
            // Release: pairs with the Acquire above.
            REGISTERED.store(true, Release);
        }
        Ok(())
    }

    extern "C" fn before() {
        let me = task::current_tid();
        let words = words();
        // Relaxed: only this thread stores its own number.
        if words.owner.load(Relaxed) == me {
            // Forked from a signal handler inside a change, or registered twice.
            words.depth.store(words.depth.load(Relaxed).wrapping_add(1), Relaxed);
        } else {
            take(me);
        }
    }

    extern "C" fn in_parent() {
        give_back();
    }

    extern "C" fn in_child() {
        // The same thread under a new number. Relaxed: the child has no other thread yet.
        words().owner.store(task::current_tid(), Relaxed);
        give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that no thread has (the kernel's limit is 2^22), as in a child forked while another thread had the lock.
    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn the_lock_is_taken_over_from_who_is_gone() {
        // Other tests take it as well, and as well from who is gone.
        while words().owner.compare_exchange(0, i32::MAX, Relaxed, Relaxed).is_err() {
            task::yield_now();
        }
        let held = hold().unwrap();
        assert!(was_left(&held));
    }

    #[test]
    fn one_thread_at_a_time_and_the_owner_is_told() {
        let held = hold().unwrap();
        assert_eq!(hold().err(), Some(Refusal::Busy));
        let other = std::thread::spawn(|| drop(hold().unwrap()));
        drop(held);
        other.join().unwrap();
        drop(hold().unwrap());
    }
}
