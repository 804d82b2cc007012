//! Data that a handler and the rest of the program share.
//!
//! The kernel's `spin_lock_irqsave`: a hold keeps this thread's handlers out, and a lock keeps other threads out, whose
//! handlers may run at any time. Soundness rests on the lock alone; the hold is what keeps a handler from waiting for the
//! thread that it interrupted.
//!
//! # States
//! `owner` 0: free. Else the address of the owner's state, which no other thread has.
//!
//! # Invariants
//! 1. Who made `owner` its own by an exchange from 0 has the value, and nobody else has, until it stores 0.
//!
//! # Memory ordering
//! Taking is an Acquire, giving back a Release: what the last owner did happened before.
//!
//! # Cost
//! A compare-and-exchange, whose LOCK is a site of [`patch`](crate::patch), and a store.
//!
//! # Safety
//! See Invariant 1.
#![expect(unsafe_code, reason = "a value behind a lock")]

use super::hold::{Hold, here};
use crate::atomic::AtomicUsize;
use crate::sys::task;
use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Looks at the lock before the processor is given away: the holder may be on another one, and holds for little.
const SPINS: u32 = 100; // A guess: some hundred nanoseconds, less than a switch.

/// A value that is reached under a [`Hold`] only.
#[derive(Default)]
pub struct Masked<T: ?Sized> {
    owner: AtomicUsize,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the value (Invariant 1).
unsafe impl<T: ?Sized + Send> Sync for Masked<T> {}

impl<T> Masked<T> {
    /// A value nobody has.
    pub const fn new(value: T) -> Self {
        Self {
            owner: AtomicUsize::new(0),
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
    /// [`Signals`](super::Signals) and so is not held.
    #[inline]
    #[track_caller]
    pub fn lock<'a>(&'a self, hold: &'a Hold) -> MaskedGuard<'a, T> {
        let _ = hold;
        let me = (&raw const *here()).addr();
        // Acquire: pairs with the Release in `drop`.
        if self.owner.compare_exchange(0, me, Acquire, Relaxed).is_err() {
            self.lock_slow(me);
        }
        MaskedGuard {
            masked: self,
            thread: PhantomData,
        }
    }

    #[cold]
    #[track_caller]
    fn lock_slow(&self, me: usize) {
        let mut spins = 0;
        // Acquire: pairs with the Release in `drop`.
        while let Err(owner) = self.owner.compare_exchange(0, me, Acquire, Relaxed) {
            assert!(owner != me, "a Masked value is taken twice by one thread");
            // A signal handler spins too, so nothing here may be more than a look or a bare system call.
            if spins < SPINS {
                spins += 1;
                core::hint::spin_loop();
            } else {
                task::yield_now();
            }
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
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MaskedGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
