//! [`Ref`]: a counted reference that puts itself when dropped.

use super::guard::Guard;
use super::lock_ref::LockRef;
use super::policy::Policy;
use core::fmt;
use core::mem::ManuallyDrop;

/// A counted reference to the object of a [`LockRef`].
///
/// Dropping the last one leaves the object idle, as Linux leaves an unused directory entry in its cache: the count is
/// 0, and the object can be revived, or marked dead under the lock. [`put_or_lock`](Self::put_or_lock) returns the last
/// one with the lock instead. While a `Ref` exists the count is not 0, unless a put without a reference took it.
///
/// It borrows the `LockRef` and does not manage memory: that must outlive all references, as a static, an arena, or
/// memory that is reclaimed after a grace period.
///
/// # Examples
/// ```
/// use cyclewise::refs::LockRef;
/// use cyclewise::refs::lockref::Ref;
///
/// let entry = LockRef::new("name");
/// entry.get();
/// let first: Ref<'_, &str> = Ref::adopt(&entry);
/// let second = first.clone();
/// drop(first);
/// assert_eq!(second.lockref().count(), 2);
/// ```
pub struct Ref<'a, T: ?Sized, P: Policy = super::Adaptive> {
    lockref: &'a LockRef<T, P>,
}

impl<T: ?Sized, P: Policy> LockRef<T, P> {
    /// [`get_not_dead`](Self::get_not_dead) as a [`Ref`], which puts the reference when dropped.
    #[inline]
    pub fn reference(&self) -> Option<Ref<'_, T, P>> {
        self.get_not_dead().then(|| Ref::adopt(self))
    }
}

impl<'a, T: ?Sized, P: Policy> Ref<'a, T, P> {
    /// A `Ref` for a reference that one of [`LockRef`]'s own operations has counted.
    #[must_use]
    pub fn adopt(lockref: &'a LockRef<T, P>) -> Self {
        Self { lockref }
    }

    /// The `LockRef` that it refers to.
    #[must_use]
    pub fn lockref(&self) -> &'a LockRef<T, P> {
        self.lockref
    }

    /// Leaves the reference counted: the caller puts it by one of [`LockRef`]'s own operations.
    #[must_use = "the reference is still counted"]
    pub fn into_counted(self) -> &'a LockRef<T, P> {
        ManuallyDrop::new(self).lockref
    }

    /// Puts the reference unless it is the last; then it stays counted, and the caller has the lock. See
    /// [`LockRef::put_or_lock`].
    #[track_caller]
    #[must_use = "`Some` is the last reference, still held, and the lock"]
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
