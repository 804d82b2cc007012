//! A lock without waiting: a thread that fails to take it leaves the work to the holder.
//!
//! # Fork
//! In a child forked while another thread held the lock, it is never released: nobody writes segments there, and
//! readers get the kernel's clock after the current segment. The lock is not broken, because its value may be half
//! written.
//!
//! # Priorities
//! No priority inversion: a reader of any priority goes on without the lock. While a preempted thread holds it, nobody
//! writes the next segment, and after at most 4 ms readers get the kernel's clock, until the holder runs again.
//!
//! # Panics
//! A panic while a guard exists releases the lock. The state is then that of the last reading that completed.
//!
//! # Safety
//! 1. The value is reached only through a [`Guard`], and there is at most one: it exists from a successful
//!    compare-and-exchange of `held` to the store that resets it.
#![expect(unsafe_code, reason = "a cell that one thread at a time is let into")]

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, Ordering};

pub(super) struct TryLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time reaches the value (Invariant 1), with Release and Acquire between two of them.
unsafe impl<T: Send> Sync for TryLock<T> {}

/// Exclusive access to the value.
pub(super) struct Guard<'l, T>(&'l TryLock<T>);

impl<T> TryLock<T> {
    pub(super) const fn new(value: T) -> Self {
        Self {
            held: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Takes the lock if it is free. Never waits, so signal handlers may call it.
    pub(super) fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Acquire: pairs with the Release in `drop`.
        let taken = self
            .held
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        // Only after success: dropping a guard releases the lock.
        taken.is_ok().then(|| Guard(self))
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this is the only guard (Invariant 1).
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only guard, borrowed mutably (Invariant 1).
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
        // Twice: a failed attempt must not release the lock.
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
