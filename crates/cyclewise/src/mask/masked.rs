//! Data that a handler and the rest of the program share.
//!
//! The kernel's `spin_lock_irqsave`: a hold keeps this thread's handlers out, and a lock keeps other threads out, whose
//! handlers may run at any time. Soundness rests on the lock alone; the hold is what keeps a handler from waiting for the
//! thread that it interrupted.
//!
//! # States
//! `owner` 0: free. Else the name of the owner's thread, which no other has ([`fork`], Invariant 2).
//!
//! # Invariants
//! 1. Who made `owner` its own by an exchange from 0 has the value, and nobody else has, until it stores 0. Nobody takes it
//!    from an owner, not even from one that will never give it back: the value may be half changed.
//!
//! # Memory ordering
//! Taking is an Acquire, giving back a Release: what the last owner did happened before.
//!
//! # Fork
//! A value that another thread had at a fork is had for ever in the child, which has no such thread. Where handlers were
//! registered before the fork the child can tell: a bounded wait ends at once, and [`lock`](Masked::lock)
//! panics after a second. Where none were, or after `_Fork`, a bounded wait ends at its limit and `lock` waits for ever,
//! as for any lock.
//!
//! # Priorities
//! Waiters sleep ([`waiters`](super::waiters)), so a holder of a lower priority runs, also under SCHED_FIFO. No priority is
//! inherited.
//!
//! # Cost
//! Taking: a load, and a compare-and-exchange, whose LOCK is a site of [`patch`](crate::patch). Giving back: a store, a
//! load and a branch.
//!
//! # Safety
//! See Invariant 1.
#![expect(unsafe_code, reason = "a value behind a lock")]

use super::fork;
use super::hold::Hold;
use super::waiters::Waiters;
use crate::atomic::AtomicUsize;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::time::Duration;

/// How long [`Masked::lock`] waits before it looks whether the owner is a thread of this process.
const LOOK_NS: u64 = 1_000_000_000;

/// A value that is reached under a [`Hold`] only.
///
/// # fork
/// Where another thread has the value at a fork, the child never gets it: it may be half changed. There
/// [`lock`](Self::lock) panics, [`try_lock_for`](Self::try_lock_for) gives up, and a queue's handler counts the signal as
/// [`refused`](Self::refused). A child of a program with threads takes such values by `try_lock_for`.
///
/// # Priorities
/// Who waits sleeps, so that a holder of a lower priority can run. It inherits no priority: do not share a value between
/// threads of SCHED_FIFO and others if a second is too long to wait.
///
/// # Panics under a guard
/// give the value back as it is; it is not poisoned.
#[derive(Default)]
pub struct Masked<T: ?Sized> {
    owner: AtomicUsize,
    waiters: Waiters,
    refused: AtomicU32,
    value: UnsafeCell<T>,
}

/// Who has the value.
enum Owner {
    /// The calling thread.
    Caller,
    /// A thread, as it seems, that this process does not have.
    Gone,
    /// Another thread.
    Other,
}

// SAFETY: one thread at a time has the value (Invariant 1).
unsafe impl<T: ?Sized + Send> Sync for Masked<T> {}

impl<T> Masked<T> {
    /// A value nobody has.
    pub const fn new(value: T) -> Self {
        Self {
            owner: AtomicUsize::new(0),
            waiters: Waiters::new(),
            refused: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Masked<T> {
    /// Takes the value; waits while another thread has it. Waiting, and having, nobody on this thread is delivered a signal.
    ///
    /// Ordering: Acquire; what the last owner did happened before.
    ///
    /// # Panics
    /// Where this thread has it already: in the same function, or in a handler that is not of
    /// [`Signals`](super::Signals) and so is not held. In a child of fork, after a second, where a thread that the child
    /// does not have had it at the fork.
    #[inline]
    #[track_caller]
    pub fn lock<'a>(&'a self, hold: &'a Hold) -> MaskedGuard<'a, T> {
        let _ = hold;
        let me = fork::me();
        // Acquire: pairs with the Release in `drop`.
        if self.owner.compare_exchange(0, me, Acquire, Relaxed).is_err() {
            self.lock_slow(me);
        }
        self.guard()
    }

    #[cold]
    #[track_caller]
    fn lock_slow(&self, me: usize) {
        loop {
            let waited = self.waiters.wait(LOOK_NS, || match self.take(me) {
                Ok(()) => Some(true),
                Err(Owner::Caller) => Some(false),
                Err(Owner::Other | Owner::Gone) => None,
            });
            match waited {
                Some(true) => return,
                Some(false) => panic!("a Masked value is taken twice by one thread"),
                // Not at first sight: in a child whose fork handlers still run it may seem so (`fork`, Invariant 3).
                None if fork::is_of_a_parent(self.owner.load(Relaxed)) => {
                    panic!("a Masked value was held by another thread when this process was forked")
                }
                None => {}
            }
        }
    }

    /// Takes the value if nobody has it. Does not wait.
    ///
    /// Ordering: Acquire where it is taken, as [`lock`](Self::lock); else none.
    #[inline]
    pub fn try_lock<'a>(&'a self, hold: &'a Hold) -> Option<MaskedGuard<'a, T>> {
        let _ = hold;
        // Acquire: pairs with the Release in `drop`.
        let taken = self.owner.compare_exchange(0, fork::me(), Acquire, Relaxed);
        taken.is_ok().then(|| self.guard())
    }

    /// Takes the value; waits while another thread has it, up to `limit`. At once `None` where this thread has it, and where
    /// in a child of fork a thread seems to have it that the child does not have. Handlers may call it.
    ///
    /// Ordering: Acquire where it is taken, as [`lock`](Self::lock); else none.
    pub fn try_lock_for<'a>(&'a self, hold: &'a Hold, limit: Duration) -> Option<MaskedGuard<'a, T>> {
        let guard = self.try_lock(hold);
        if guard.is_some() {
            return guard;
        }
        let me = fork::me();
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let waited = self.waiters.wait(limit_ns, || match self.take(me) {
            Ok(()) => Some(true),
            Err(Owner::Caller | Owner::Gone) => Some(false),
            Err(Owner::Other) => None,
        });
        if waited == Some(true) {
            return Some(self.guard());
        }
        // Relaxed: a number for people.
        self.refused.fetch_add(1, Relaxed);
        None
    }

    /// How often [`try_lock_for`](Self::try_lock_for) gave up, a [`Queue`](super::Queue)'s handler included, whose signal is
    /// lost then.
    #[must_use]
    pub fn refused(&self) -> u32 {
        // Relaxed: a number for people.
        self.refused.load(Relaxed)
    }

    /// One try, or who has it.
    fn take(&self, me: usize) -> Result<(), Owner> {
        // Acquire: pairs with the Release in `drop`.
        match self.owner.compare_exchange(0, me, Acquire, Relaxed) {
            Ok(_) => Ok(()),
            // First: a child's new thread may have the memory of one that the child does not have.
            Err(owner) if fork::is_of_a_parent(owner) => Err(Owner::Gone),
            Err(owner) if fork::is_same(owner, me) => Err(Owner::Caller),
            Err(_) => Err(Owner::Other),
        }
    }

    fn guard(&self) -> MaskedGuard<'_, T> {
        MaskedGuard {
            masked: self,
            thread: PhantomData,
        }
    }

    /// The value, which nobody else can have.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized> fmt::Debug for Masked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masked").finish_non_exhaustive()
    }
}

/// Has a [`Masked`]'s value; gives it back on drop.
#[must_use]
pub struct MaskedGuard<'a, T: ?Sized> {
    masked: &'a Masked<T>,
    /// Stays on its thread, whose hold it is under.
    thread: PhantomData<*const ()>,
}

impl<T: ?Sized> Deref for MaskedGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: ours while this guard lives (Invariant 1).
        unsafe { &*self.masked.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MaskedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: ours while this guard lives (Invariant 1).
        unsafe { &mut *self.masked.value.get() }
    }
}

impl<T: ?Sized> Drop for MaskedGuard<'_, T> {
    /// Ordering: Release; pairs with the Acquire in `lock`.
    fn drop(&mut self) {
        self.masked.owner.store(0, Release);
        self.masked.waiters.wake();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MaskedGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
