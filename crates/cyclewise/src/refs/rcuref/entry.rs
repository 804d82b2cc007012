//! A counted reference to a value in a pool.
//!
//! # Safety
//! The unsafe operations are those that read a slot's value; each cites an invariant of [`pool`](super::pool).
#![expect(unsafe_code, reason = "a reference to a value in a slot that is counted")]

use super::Got;
use super::pool::{Key, Pool, Slot};
use core::fmt;
use core::ops::Deref;
use core::sync::atomic::Ordering::Relaxed;

/// A reference to a value in a [`Pool`]. Dropping the last one drops the value.
pub struct Entry<'p, T> {
    pub(super) pool: &'p Pool<T>,
    pub(super) slot: usize,
}

impl<T> Entry<'_, T> {
    /// The key that finds this value as long as an entry of it exists.
    #[must_use]
    pub fn key(&self) -> Key {
        Key {
            slot: self.slot,
            // Relaxed: unchanged while the count is held (Invariant 2).
            generation: self.slot().generation.load(Relaxed),
        }
    }

    fn slot(&self) -> &Slot<T> {
        &self.pool.slots[self.slot]
    }
}

impl<T> Deref for Entry<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this entry is counted, so nobody writes the value (Invariant 2).
        let value = unsafe { &*self.slot().value.get() };
        // SAFETY: and there is one (Invariant 3).
        unsafe { value.assume_init_ref() }
    }
}

impl<T> Clone for Entry<'_, T> {
    fn clone(&self) -> Self {
        // The count is held, so it is not dead.
        let got = self.slot().count.get();
        debug_assert_eq!(got, Got::Reference, "an entry is counted");
        Self {
            pool: self.pool,
            slot: self.slot,
        }
    }
}

impl<T> Drop for Entry<'_, T> {
    fn drop(&mut self) {
        if self.slot().count.put() {
            self.pool.free(self.slot);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Entry<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
