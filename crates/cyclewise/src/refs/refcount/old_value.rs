//! The methods that return the old count: the kernel's `__refcount_*(.., &old)`.
//!
//! # Cost
//! XADD instead of INC and SUB. They cost the same with LOCK, and INC and SUB cost less where it is patched away.

/// The result of a decrement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decremented<T> {
    /// The old count.
    pub old: T,
    /// Whether that was the last reference; then the caller frees the object.
    pub last: bool,
}

macro_rules! old_values {
    ($value:ident) => {
        /// [`inc`](Self::inc), and the count before.
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "__refcount_inc")]
        #[inline]
        #[track_caller]
        pub fn inc_old(&self) -> $value {
            self.add_old(1)
        }

        /// [`add`](Self::add), and the count before.
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "__refcount_add")]
        #[inline]
        #[track_caller]
        pub fn add_old(&self, n: $value) -> $value {
            if n > $value::from(BATCH) {
                return self.add_batch(n);
            }
            // Relaxed: see the module's notes.
            let stored = self.0.fetch_add(n, Relaxed);
            // Zero or saturated before, or past the maximum now.
            if stored > Self::LARGEST - n {
                if stored == Self::ZERO {
                    self.increment_from_zero();
                } else {
                    self.overflow();
                }
            }
            stored.wrapping_add(1)
        }

        /// [`inc_not_zero`](Self::inc_not_zero), and the count before; `None` where it was zero.
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "__refcount_inc_not_zero")]
        #[inline]
        #[track_caller]
        pub fn inc_not_zero_old(&self) -> Option<$value> {
            self.add_not_zero_old(1)
        }

        /// [`add_not_zero`](Self::add_not_zero), and the count before; `None` where it was zero.
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "__refcount_add_not_zero")]
        #[inline]
        #[track_caller]
        pub fn add_not_zero_old(&self, n: $value) -> Option<$value> {
            self.add_unless_zero(n, Self::MAX, Relaxed).ok()
        }

        /// [`inc_not_zero_acquire`](Self::inc_not_zero_acquire), and the count before; `None` where it was zero.
        ///
        /// # Memory ordering
        /// Acquire where it succeeds: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "__refcount_inc_not_zero_acquire")]
        #[inline]
        #[track_caller]
        pub fn inc_not_zero_acquire_old(&self) -> Option<$value> {
            self.add_not_zero_acquire_old(1)
        }

        /// [`add_not_zero_acquire`](Self::add_not_zero_acquire), and the count before; `None` where it was zero.
        ///
        /// # Memory ordering
        /// Acquire where it succeeds: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "__refcount_add_not_zero_acquire")]
        #[inline]
        #[track_caller]
        pub fn add_not_zero_acquire_old(&self, n: $value) -> Option<$value> {
            self.add_unless_zero(n, Self::MAX, Acquire).ok()
        }

        /// [`inc_not_zero_limited_acquire`](Self::inc_not_zero_limited_acquire), and the count before.
        ///
        /// # Errors
        /// The count, where it is zero or the limit is reached; no reference was taken.
        ///
        /// # Memory ordering
        /// Acquire where it succeeds: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "__refcount_inc_not_zero_limited_acquire")]
        #[inline]
        #[track_caller]
        pub fn inc_not_zero_limited_acquire_old(&self, limit: $value) -> Result<$value, $value> {
            self.add_not_zero_limited_acquire_old(1, limit)
        }

        /// [`add_not_zero_limited_acquire`](Self::add_not_zero_limited_acquire), and the count before.
        ///
        /// # Errors
        /// The count, where it is zero or the limit would be passed; no reference was taken.
        ///
        /// # Memory ordering
        /// Acquire where it succeeds: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "__refcount_add_not_zero_limited_acquire")]
        #[inline]
        #[track_caller]
        pub fn add_not_zero_limited_acquire_old(&self, n: $value, limit: $value) -> Result<$value, $value> {
            self.add_unless_zero(n, limit, Acquire)
        }

        /// [`dec_and_test`](Self::dec_and_test), and the count before.
        ///
        /// # Memory ordering
        /// Release; acquire where it was the last.
        #[doc(alias = "__refcount_dec_and_test")]
        #[inline]
        #[track_caller]
        #[must_use = "after the last reference the caller has to free the object"]
        pub fn dec_and_test_old(&self) -> Decremented<$value> {
            self.sub_and_test_old(1)
        }

        /// [`sub_and_test`](Self::sub_and_test), and the count before.
        ///
        /// # Memory ordering
        /// Release; acquire where it was the last.
        #[doc(alias = "__refcount_sub_and_test")]
        #[inline]
        #[track_caller]
        #[must_use = "after the last reference the caller has to free the object"]
        pub fn sub_and_test_old(&self, n: $value) -> Decremented<$value> {
            if n > $value::from(BATCH) {
                return self.sub_batch(n);
            }
            // Release: pairs with the Acquire in `acquire_all`.
            let stored = self.0.fetch_sub(n, Release);
            let new = stored.wrapping_sub(n);
            let mut last = false;
            // Zero or saturated before, or zero now, or too many given up: those wrap to above.
            if new > Self::LARGEST - n {
                last = new == Self::ZERO && n > 0;
                if last {
                    self.acquire_all();
                } else {
                    self.saturate(Event::SubUseAfterFree);
                }
            }
            Decremented {
                old: stored.wrapping_add(1),
                last,
            }
        }

        /// [`dec`](Self::dec), and the count before.
        ///
        /// # Memory ordering
        /// Release.
        #[doc(alias = "__refcount_dec")]
        #[inline]
        #[track_caller]
        pub fn dec_old(&self) -> $value {
            // Release: pairs with the Acquire in `acquire_all`.
            let stored = self.0.fetch_sub(1, Release);
            // One, zero, or saturated: the first two wrap to above the limit.
            if stored.wrapping_sub(1) > Self::LARGEST - 1 {
                self.saturate(Event::DecLeak);
            }
            stored.wrapping_add(1)
        }
    };
}
pub(super) use old_values;
