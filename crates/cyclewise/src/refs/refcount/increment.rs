//! Adding references: `inc`, `add`, and the methods that refuse a count of zero.

macro_rules! increments {
    ($value:ident) => {
        /// Adds a reference. The caller already holds one.
        ///
        /// Saturates and reports if the count was zero, passes [`MAX`](Self::MAX) or is saturated.
        ///
        /// # Memory ordering
        /// None: relaxed. The caller already holds a reference.
        #[doc(alias = "refcount_inc")]
        #[inline]
        #[track_caller]
        pub fn inc(&self) {
            // Relaxed: see the module documentation.
            match self.0.fetch_inc_cmp(Relaxed) {
                Greater => {}
                Equal => self.increment_from_zero(),
                Less => self.overflow(),
            }
        }

        // Two functions, because an argument would be loaded before the branches.
        #[cold]
        #[inline(never)]
        #[track_caller]
        fn increment_from_zero(&self) {
            self.saturate(Event::AddUseAfterFree);
        }

        #[cold]
        #[inline(never)]
        #[track_caller]
        fn overflow(&self) {
            self.saturate(Event::AddOverflow);
        }

        /// Adds `n` references at once; otherwise as [`inc`](Self::inc). Loops if `n` is above [`BATCH`](super::BATCH).
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "refcount_add")]
        #[inline]
        #[track_caller]
        pub fn add(&self, n: $value) {
            self.add_old(n);
        }

        /// Adds a reference unless the count is zero: then returns `false` and leaves it zero. A saturated count stays
        /// saturated, returns `true` and reports it.
        ///
        /// A loop of compare-and-exchange, because others would see an unconditional increment before it is undone.
        ///
        /// # Memory ordering
        /// None: relaxed. The caller found the count by other means (a lock, RCU, a hazard pointer), which order.
        #[doc(alias = "refcount_inc_not_zero")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn inc_not_zero(&self) -> bool {
            self.inc_not_zero_old().is_some()
        }

        /// Adds `n` references at once; otherwise as [`inc_not_zero`](Self::inc_not_zero).
        ///
        /// # Memory ordering
        /// None: relaxed.
        #[doc(alias = "refcount_add_not_zero")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn add_not_zero(&self, n: $value) -> bool {
            self.add_not_zero_old(n).is_some()
        }

        /// [`inc_not_zero`](Self::inc_not_zero), for memory that is reused while others access its count.
        ///
        /// # Memory ordering
        /// Acquire on success: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "refcount_inc_not_zero_acquire")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn inc_not_zero_acquire(&self) -> bool {
            self.inc_not_zero_acquire_old().is_some()
        }

        /// [`add_not_zero`](Self::add_not_zero), for memory that is reused while others access its count.
        ///
        /// # Memory ordering
        /// Acquire on success: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "refcount_add_not_zero_acquire")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn add_not_zero_acquire(&self, n: $value) -> bool {
            self.add_not_zero_acquire_old(n).is_some()
        }

        /// Adds a reference unless the count is zero or would exceed `limit`.
        ///
        /// A saturated count exceeds every limit below [`MAX`](Self::MAX). With a limit of `MAX` or more this is
        /// [`inc_not_zero_acquire`](Self::inc_not_zero_acquire).
        ///
        /// # Memory ordering
        /// Acquire on success: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "refcount_inc_not_zero_limited_acquire")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn inc_not_zero_limited_acquire(&self, limit: $value) -> bool {
            self.inc_not_zero_limited_acquire_old(limit).is_ok()
        }

        /// Adds `n` references at once; otherwise as
        /// [`inc_not_zero_limited_acquire`](Self::inc_not_zero_limited_acquire).
        ///
        /// # Memory ordering
        /// Acquire on success: pairs with [`set_release`](Self::set_release).
        #[doc(alias = "refcount_add_not_zero_limited_acquire")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: no reference was taken"]
        pub fn add_not_zero_limited_acquire(&self, n: $value, limit: $value) -> bool {
            self.add_not_zero_limited_acquire_old(n, limit).is_ok()
        }

        /// The stored count plus `n` references; `None` if that is not an exact count.
        #[inline]
        const fn raised(stored: $value, n: $value) -> Option<$value> {
            if stored > Self::LARGEST || n > Self::LARGEST - stored {
                None
            } else {
                Some(stored + n)
            }
        }

        /// `add` by a loop, for batches that must not be in flight (Invariant 2). Returns the old count.
        #[inline(never)]
        #[track_caller]
        fn add_batch(&self, n: $value) -> $value {
            // Relaxed: the exchange checks it.
            let mut stored = self.0.load(Relaxed);
            loop {
                let new = Self::raised(stored, n);
                // Relaxed: as `inc`.
                match self
                    .0
                    .compare_exchange_weak(stored, new.unwrap_or(Self::PINNED), Relaxed, Relaxed)
                {
                    Ok(_) if new.is_some() => {}
                    Ok(Self::ZERO) => self.report(Event::AddUseAfterFree),
                    Ok(_) => self.report(Event::AddOverflow),
                    Err(now) => {
                        stored = now;
                        continue;
                    }
                }
                return stored.wrapping_add(1);
            }
        }

        /// The loop of all `*_not_zero*`. Returns the old count, as `Ok` if references were added.
        #[inline]
        #[track_caller]
        fn add_unless_zero(&self, n: $value, limit: $value, success: Ordering) -> Result<$value, $value> {
            // Relaxed: the exchange checks it.
            let mut stored = self.0.load(Relaxed);
            loop {
                // One less is stored, so this compares `stored + 1 + n > limit`; saturated ones are above every limit.
                if stored == Self::ZERO || limit < Self::MAX && stored.saturating_add(n) >= limit {
                    return Err(stored.wrapping_add(1));
                }
                let new = Self::raised(stored, n);
                // Success: the caller's; an Acquire pairs with the Release in `set_release`. Relaxed on failure: the
                // next exchange checks it.
                match self
                    .0
                    .compare_exchange_weak(stored, new.unwrap_or(Self::PINNED), success, Relaxed)
                {
                    Ok(_) => {
                        if new.is_none() {
                            self.report(Event::AddNotZeroOverflow);
                        }
                        return Ok(stored.wrapping_add(1));
                    }
                    Err(now) => stored = now,
                }
            }
        }
    };
}
pub(super) use increments;
