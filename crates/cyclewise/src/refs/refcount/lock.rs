//! Removing the last reference under a lock: `dec_and_lock`.

macro_rules! locks {
    ($name:ident) => {
        /// Removes a reference, the last one with the lock held: `Some` guard if it was the last.
        ///
        /// For objects that are found through a structure under that lock: nobody can find one between its last put and
        /// its removal. `lock` takes any lock and returns its guard; it is called only if the reference may be the
        /// last. If another reference was added meanwhile, the guard is dropped again.
        ///
        /// If `lock` panics the reference is still held.
        ///
        /// # Memory ordering
        /// Release; acquire if it was the last.
        ///
        /// # Examples
        /// ```
        #[doc = concat!("use cyclewise::refs::", stringify!($name), ";")]
        /// use std::sync::Mutex;
        ///
        /// let index = Mutex::new(vec!["thing"]);
        #[doc = concat!("let count = ", stringify!($name), "::new(2);")]
        /// assert!(count.dec_and_lock(|| index.lock().unwrap()).is_none());
        /// if let Some(mut index) = count.dec_and_lock(|| index.lock().unwrap()) {
        ///     index.clear();
        /// }
        /// assert!(index.lock().unwrap().is_empty());
        /// ```
        #[doc(alias = "refcount_dec_and_lock")]
        #[doc(alias = "refcount_dec_and_lock_irqsave")]
        #[inline]
        #[track_caller]
        #[must_use = "after the last reference the caller has to free the object"]
        pub fn dec_and_lock<G>(&self, lock: impl FnOnce() -> G) -> Option<G> {
            if self.dec_not_one() {
                return None;
            }
            let guard = lock();
            self.dec_and_test().then_some(guard)
        }

        /// [`dec_and_lock`](Self::dec_and_lock) with std's mutex. If it was the last reference, returns the result of
        /// [`lock`](std::sync::Mutex::lock), whose guard holds the lock even if the mutex is poisoned.
        ///
        /// # Memory ordering
        /// Release; acquire if it was the last.
        #[cfg(feature = "std")]
        #[doc(alias = "refcount_dec_and_mutex_lock")]
        #[inline]
        #[track_caller]
        #[must_use = "after the last reference the caller has to free the object"]
        pub fn dec_and_mutex_lock<'a, T: ?Sized>(
            &self,
            mutex: &'a std::sync::Mutex<T>,
        ) -> Option<std::sync::LockResult<std::sync::MutexGuard<'a, T>>> {
            self.dec_and_lock(|| mutex.lock())
        }
    };
}
pub(super) use locks;
