//! A lock that nobody waits for: who does not get it leaves the work to who has it.
//!
//! # Fork
//! A child that was forked while another thread had it never gets it: nobody keeps the clock there, whose readers get the
//! kernel's clock from the end of the segment on. It is not taken over, because the value may be half changed.
//!
//! # Priorities
//! None are turned around: a reader of any priority goes on without the lock. While who has it is kept off its CPU, nobody writes
//! the next segment, and after at most 4 ms readers get the kernel's clock, until the holder runs again.
//!
//! # Panics under a guard
//! give the lock back. What is kept is then as old as the last reading that was whole.
//!
//! # Safety
//! 1. The value is reached through a [`Guard`] only, and there is one at a time: it exists from a successful
//!    compare-and-exchange of `held` to the store that takes it back.
#![expect(unsafe_code, reason = "a cell that one thread at a time is let into")]

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// The lock, and what it guards.
pub(super) struct TryLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value (Invariant 1), and hands it on by Release and Acquire.
unsafe impl<T: Send> Sync for TryLock<T> {}

/// The right to the value.
pub(super) struct Guard<'l, T>(&'l TryLock<T>);

impl<T> TryLock<T> {
    pub(super) const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// The lock, if nobody has it. Never waits, so it may be asked for in a signal handler.
    pub(super) fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Acquire: pairs with the Release in `drop`.
        let taken = self
            .held
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        // Made only where it is ours: a guard that is dropped gives the lock back.
        taken.is_ok().then(|| Guard(self))
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the one guard (Invariant 1).
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the one guard, borrowed alone (Invariant 1).
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `try_lock`.
        self.0.held.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let lock = TryLock::new(1);
        let mut guard = lock.try_lock().unwrap();
        *guard += 1;
        // Twice: who does not get it must not give it back either.
        assert!(lock.try_lock().is_none());
        assert!(lock.try_lock().is_none());
        drop(guard);
        assert_eq!(*lock.try_lock().unwrap(), 2);
    }

    #[test]
    fn no_change_is_lost() {
        let lock = TryLock::new(0u32);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut made = 0;
                    while made < 100 {
                        if let Some(mut guard) = lock.try_lock() {
                            *guard += 1;
                            made += 1;
                        }
                        std::thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(*lock.try_lock().unwrap(), 200);
    }
}
