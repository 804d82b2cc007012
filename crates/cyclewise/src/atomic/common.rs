//! The methods that all the types share, and the compare-and-exchange loop, as macros.
//!
//! # Safety
//! `from_ptr` has std's contract: its caller vouches for the pointer.
#![allow(
    unsafe_code,
    reason = "from_ptr, as std has it; the lint looks where the macro is used"
)]

/// The methods of every type.
macro_rules! common {
    ($name:ident, $value:ty) => {
        /// A new atomic.
        #[inline]
        #[must_use]
        pub const fn new(value: $value) -> Self {
            Self(atomic::$name::new(value))
        }

        /// The atomic at `ptr`.
        ///
        /// # Safety
        /// As std's `from_ptr`: `ptr` is aligned to the value's size and valid for reads and writes for `'a`, and every
        /// access that may race with another is atomic. The memory is private to this process.
        #[inline]
        #[must_use]
        pub const unsafe fn from_ptr<'a>(ptr: *mut $value) -> &'a Self {
            // SAFETY: the caller's contract is std's, and `Self` is a transparent wrapper of std's type.
            unsafe { &*ptr.cast::<Self>() }
        }

        /// The value; exclusive access needs no ordering.
        #[inline]
        pub fn get_mut(&mut self) -> &mut $value {
            self.0.get_mut()
        }

        /// Consumes the atomic and returns the value.
        #[inline]
        #[must_use]
        pub const fn into_inner(self) -> $value {
            self.0.into_inner()
        }

        /// The address of the value. Accesses through it must be atomic where others may race.
        #[inline]
        pub const fn as_ptr(&self) -> *mut $value {
            self.0.as_ptr()
        }

        /// Loads: a plain MOV.
        ///
        /// # Panics
        /// With `Release` and `AcqRel`, as std does.
        #[inline]
        #[track_caller]
        pub fn load(&self, order: Ordering) -> $value {
            self.0.load(order)
        }

        /// Stores: a plain MOV, and with `SeqCst` an XCHG, which locks in every mode.
        ///
        /// # Panics
        /// With `Acquire` and `AcqRel`, as std does.
        #[inline]
        #[track_caller]
        pub fn store(&self, value: $value, order: Ordering) {
            self.0.store(value, order);
        }

        /// Stores `value` and returns the old value: XCHG, which locks in every mode.
        #[inline]
        pub fn swap(&self, value: $value, order: Ordering) -> $value {
            self.0.swap(value, order)
        }

        /// Stores `new` if the value is `current`. `Ok` and `Err` hold the old value.
        ///
        /// # Errors
        /// If the value is not `current`; nothing is stored.
        ///
        /// # Panics
        /// With `Release` and `AcqRel` for `failure`, as std does.
        #[inline]
        #[track_caller]
        pub fn compare_exchange(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            super::exchanged(
                self.0.cmpxchg(current, new, success, super::failing(failure)),
                current,
            )
        }

        /// The same as [`compare_exchange`](Self::compare_exchange): on x86-64 it never fails spuriously.
        ///
        /// # Errors
        /// If the value is not `current`; nothing is stored.
        ///
        /// # Panics
        /// With `Release` and `AcqRel` for `failure`, as std does.
        #[inline]
        #[track_caller]
        pub fn compare_exchange_weak(
            &self,
            current: $value,
            new: $value,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$value, $value> {
            self.compare_exchange(current, new, success, failure)
        }

        /// Replaces the value by `update` of it, retrying after each concurrent change. `Ok` holds the old value.
        ///
        /// # Errors
        /// The value for which `update` returned `None`; nothing is stored.
        ///
        /// # Panics
        /// With `Release` and `AcqRel` for `fetch_order`, as std does.
        #[inline]
        #[track_caller]
        pub fn try_update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut update: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            let mut found = self.0.load(fetch_order);
            while let Some(new) = update(found) {
                match self.compare_exchange_weak(found, new, set_order, fetch_order) {
                    Ok(found) => return Ok(found),
                    Err(other) => found = other,
                }
            }
            Err(found)
        }

        /// std's older name of [`try_update`](Self::try_update).
        ///
        /// # Errors
        /// The value for which `update` returned `None`; nothing is stored.
        ///
        /// # Panics
        /// With `Release` and `AcqRel` for `fetch_order`, as std does.
        #[inline]
        #[track_caller]
        pub fn fetch_update<F>(&self, set_order: Ordering, fetch_order: Ordering, update: F) -> Result<$value, $value>
        where
            F: FnMut($value) -> Option<$value>,
        {
            self.try_update(set_order, fetch_order, update)
        }

        /// Replaces the value by `update` of it, retrying after each concurrent change; returns the old value.
        ///
        /// # Panics
        /// With `Release` and `AcqRel` for `fetch_order`, as std does.
        #[inline]
        #[track_caller]
        pub fn update<F>(&self, set_order: Ordering, fetch_order: Ordering, mut update: F) -> $value
        where
            F: FnMut($value) -> $value,
        {
            let mut found = self.0.load(fetch_order);
            loop {
                match self.compare_exchange_weak(found, update(found), set_order, fetch_order) {
                    Ok(found) => return found,
                    Err(other) => found = other,
                }
            }
        }
    };
}
pub(super) use common;

/// A read-modify-write without an instruction of its own: a compare-and-exchange loop.
macro_rules! by_exchange {
    ($self:ident, $order:ident, $old:ident => $new:expr) => {{
        let mut $old = $self.0.load(super::FIRST_LOOK);
        loop {
            let found = $self.0.cmpxchg($old, $new, $order, super::FIRST_LOOK);
            if found == $old {
                return found;
            }
            $old = found;
        }
    }};
}
pub(super) use by_exchange;
