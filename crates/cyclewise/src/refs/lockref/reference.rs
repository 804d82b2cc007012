//! [`Ref`]: a counted reference that gives itself back.

use super::guard::Guard;
use super::lock_ref::LockRef;
use super::policy::Policy;
use core::fmt;
use core::mem::ManuallyDrop;

/// A counted reference to what a [`LockRef`] belongs to.
///
/// Dropping the last one leaves it idle, as Linux leaves an unused directory entry in its cache: the count is 0, and it can
/// be taken up again or be let die under the lock. [`put_or_lock`](Self::put_or_lock) hands the last one over with the
/// lock instead. While there is a `Ref` the count is not 0, unless something has put what it had not got.
///
/// It borrows the `LockRef`, so memory is none of its business: what must outlive all references is a static, an arena,
/// or memory that is reclaimed after a grace period.
pub struct Ref<'a, T: ?Sized, P: Policy = super::Adaptive> {
    lockref: &'a LockRef<T, P>,
}

impl<'a, T: ?Sized, P: Policy> Ref<'a, T, P> {
    /// A value for a reference that is counted already, by one of [`LockRef`]'s own operations.
    #[must_use]
    pub fn adopt(lockref: &'a LockRef<T, P>) -> Self {
        Self { lockref }
    }

    /// What it refers to.
    #[must_use]
    pub fn lockref(&self) -> &'a LockRef<T, P> {
        self.lockref
    }

    /// The reference stays counted, and it is the caller's to give it back by one of [`LockRef`]'s own operations.
    #[must_use = "the reference is counted still"]
    pub fn into_counted(self) -> &'a LockRef<T, P> {
        ManuallyDrop::new(self).lockref
    }

    /// Gives it back unless it is the last; then it stays counted, and the lock is the caller's.
    /// See [`LockRef::put_or_lock`].
    #[track_caller]
    #[must_use = "Some is the last reference, not given up, and the lock"]
    pub fn put_or_lock(self) -> Option<Guard<'a, T, P>> {
        self.into_counted().put_or_lock()
    }
}

impl<T: ?Sized, P: Policy> Clone for Ref<'_, T, P> {
    /// [`LockRef::get`].
    #[inline]
    #[track_caller]
    fn clone(&self) -> Self {
        self.lockref.get();
        Self { lockref: self.lockref }
    }
}

impl<T: ?Sized, P: Policy> Drop for Ref<'_, T, P> {
    #[inline]
    fn drop(&mut self) {
        if let Some(mut guard) = self.lockref.put_or_lock() {
            Guard::put(&mut guard);
        }
    }
}

impl<T: ?Sized, P: Policy + fmt::Debug> fmt::Debug for Ref<'_, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ref").field(&self.lockref).finish()
    }
}
