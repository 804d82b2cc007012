//! Removing references: `dec_and_test`, `sub_and_test`, `dec`, `dec_if_one`, `dec_not_one`.

macro_rules! decrements {
    ($value:ident) => {
        /// Removes a reference; `true` if it was the last, and then the caller frees the object.
        ///
        /// If there was no reference, or the count is saturated: saturates, reports and returns `false`.
        ///
        /// # Memory ordering
        /// Release; acquire if `true`: every use of the object happens before.
        #[doc(alias = "refcount_dec_and_test")]
        #[inline]
        #[track_caller]
        #[must_use = "`true`: the caller has to free the object"]
        pub fn dec_and_test(&self) -> bool {
            // Release: pairs with the Acquire in `acquire_all`.
            match self.0.dec_cmp(Release) {
                Greater => false,
                Equal => {
                    self.acquire_all();
                    true
                }
                Less => {
                    self.saturate(Event::SubUseAfterFree);
                    false
                }
            }
        }

        /// Removes `n` references at once; otherwise as [`dec_and_test`](Self::dec_and_test). Loops if `n` is above
        /// [`BATCH`](super::BATCH).
        ///
        /// # Memory ordering
        /// Release; acquire if `true`.
        #[doc(alias = "refcount_sub_and_test")]
        #[inline]
        #[track_caller]
        #[must_use = "`true`: the caller has to free the object"]
        pub fn sub_and_test(&self, n: $value) -> bool {
            self.sub_and_test_old(n).last
        }

        /// Removes a reference that is known not to be the last.
        ///
        /// Saturates and reports if it was the last: nobody would free the object.
        ///
        /// # Memory ordering
        /// Release.
        #[doc(alias = "refcount_dec")]
        #[inline]
        #[track_caller]
        pub fn dec(&self) {
            // Release: pairs with the Acquire in `acquire_all`.
            match self.0.dec_cmp(Release) {
                Greater => {}
                Equal | Less => self.saturate(Event::DecLeak),
            }
        }

        /// Removes the caller's reference if it is the only one; then returns `true`, and the caller frees the object.
        ///
        /// # Memory ordering
        /// Release and acquire if `true`; otherwise none.
        #[doc(alias = "refcount_dec_if_one")]
        #[inline]
        #[must_use = "`true`: the caller has to free the object"]
        pub fn dec_if_one(&self) -> bool {
            // AcqRel: Acquire pairs with the Release of earlier decrements. Relaxed on failure: the caller does nothing
            // then.
            self.0
                .compare_exchange(Self::ONE, Self::ZERO, AcqRel, Relaxed)
                .is_ok()
        }

        /// Removes a reference unless it is the last; then returns `false`, and it is still held.
        ///
        /// If there was no reference, or the count is saturated: saturates, reports and returns `true`.
        ///
        /// # Memory ordering
        /// Release if `true`; otherwise none.
        #[doc(alias = "refcount_dec_not_one")]
        #[inline]
        #[track_caller]
        #[must_use = "`false`: the caller still holds the reference"]
        pub fn dec_not_one(&self) -> bool {
            // Relaxed: only a guess for the exchange.
            let mut stored = self.0.load(Relaxed);
            while stored != Self::ONE {
                let is_bad = stored > Self::LARGEST;
                let new = if is_bad { Self::PINNED } else { stored - 1 };
                // Release: pairs with the Acquire in `acquire_all`. Relaxed on failure: only the next guess.
                match self.0.compare_exchange_weak(stored, new, Release, Relaxed) {
                    Ok(_) => {
                        if is_bad {
                            self.report(Event::SubUseAfterFree);
                        }
                        return true;
                    }
                    Err(now) => stored = now,
                }
            }
            false
        }

        /// After a decrement to zero: every use under an earlier reference happens before this.
        ///
        /// A load and not a fence, because `ThreadSanitizer` does not model fences.
        #[inline]
        fn acquire_all(&self) {
            // Acquire: pairs with the Release of the decrements. It reads the end of their release sequence: without
            // misuse only they and increments, which are read-modify-writes, change the count.
            let _ = self.0.load(Acquire);
        }

        /// `sub_and_test` by a loop, for batches that must not be in flight (Invariant 2).
        #[inline(never)]
        #[track_caller]
        fn sub_batch(&self, n: $value) -> Decremented<$value> {
            // Relaxed: only a guess for the exchange.
            let mut stored = self.0.load(Relaxed);
            loop {
                let old = stored.wrapping_add(1);
                let is_bad = old > Self::MAX || n > old;
                let new = if is_bad {
                    Self::PINNED
                } else {
                    stored.wrapping_sub(n)
                };
                // Release: pairs with the Acquire in `acquire_all`. Relaxed on failure: only the next guess.
                match self.0.compare_exchange_weak(stored, new, Release, Relaxed) {
                    Ok(_) if is_bad => self.report(Event::SubUseAfterFree),
                    Ok(_) => {}
                    Err(now) => {
                        stored = now;
                        continue;
                    }
                }
                let last = new == Self::ZERO;
                if last {
                    self.acquire_all();
                }
                return Decremented { old, last };
            }
        }
    };
}
pub(super) use decrements;
