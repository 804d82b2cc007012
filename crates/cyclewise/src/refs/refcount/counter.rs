//! The two widths: what they store, and the operations that neither add nor remove references.

use super::decrement::decrements;
use super::increment::increments;
use super::lock::locks;
use super::misuse::Event;
use super::misuse::report;
use super::old_value::{Decremented, old_values};
use crate::primitive::{AtomicU32, AtomicU64, const_fn};
use core::cmp::Ordering::{Equal, Greater, Less};
use core::fmt;
use core::panic::Location;
use core::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};

/// The largest change by one unconditional operation; larger batches loop. The module's escape bound depends on it. The
/// kernel's batches are unbounded, so a single one can take a saturated count anywhere. Its callers use batches of a
/// few references; 64 leaves 2^24 operations in flight, four times the threads that Linux can have.
pub const BATCH: u32 = 64;

macro_rules! refcounts {
    ($($(#[$doc:meta])* $name:ident: $value:ident, $atomic:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// See the [module](self::super) for states, misuse and orderings. As with `refcount_t`, the operations are
        /// safe and their meaning is up to the caller: an `inc` without a reference is misuse, and is detected if the
        /// count shows it.
        ///
        /// # Examples
        /// ```
        #[doc = concat!("use cyclewise::refs::", stringify!($name), ";")]
        ///
        #[doc = concat!("let count = ", stringify!($name), "::new(1);")]
        /// count.inc();
        /// assert!(!count.dec_and_test());
        /// assert!(count.dec_and_test(), "the last one frees");
        /// assert!(!count.inc_not_zero(), "a dead count stays dead");
        /// ```
        #[doc(alias = "refcount_t")]
        #[repr(transparent)]
        pub struct $name($atomic);

        impl $name {
            /// The largest count that is exact: one more saturates.
            #[doc(alias = "REFCOUNT_MAX")]
            pub const MAX: $value = (1 << ($value::BITS - 1)) + 1;

            /// What [`read`](Self::read) returns once the count is saturated: as far from [`MAX`](Self::MAX) as from
            /// zero.
            #[doc(alias = "REFCOUNT_SATURATED")]
            pub const SATURATED: $value = 3 << ($value::BITS - 2);

            /// Stored: no reference.
            const ZERO: $value = $value::MAX;
            /// Stored: one reference.
            const ONE: $value = 0;
            /// Stored: the largest exact count.
            const LARGEST: $value = Self::MAX - 1;
            /// Stored: saturated.
            const PINNED: $value = Self::SATURATED - 1;

            const_fn! {
                /// A count of `references`.
                #[doc(alias = "REFCOUNT_INIT")]
                #[inline]
                #[must_use]
                pub fn new(references: $value) -> Self {
                    Self($atomic::new(references.wrapping_sub(1)))
                }
            }

            /// Sets the count, even if it is saturated. The caller knows that there are no other users.
            ///
            /// # Memory ordering
            /// None: relaxed.
            #[doc(alias = "refcount_set")]
            #[inline]
            pub fn set(&self, references: $value) {
                // Relaxed: there is no other user to order.
                self.0.store(references.wrapping_sub(1), Relaxed);
            }

            /// As [`set`](Self::set), and publishes earlier writes to callers that then take a reference by an
            /// `_acquire` method: for memory that is reused while others may still access its count
            /// (`SLAB_TYPESAFE_BY_RCU`).
            ///
            /// # Memory ordering
            /// Release.
            #[doc(alias = "refcount_set_release")]
            #[inline]
            pub fn set_release(&self, references: $value) {
                // Release: pairs with the Acquire in the `_acquire` methods.
                self.0.store(references.wrapping_sub(1), Release);
            }

            /// The count at some moment; above [`MAX`](Self::MAX) it is saturated.
            ///
            /// # Memory ordering
            /// None: relaxed.
            #[doc(alias = "refcount_read")]
            #[inline]
            #[must_use]
            pub fn read(&self) -> $value {
                // Relaxed: a snapshot that orders nothing.
                self.0.load(Relaxed).wrapping_add(1)
            }

            /// Whether the count is saturated: the object is never freed.
            ///
            /// # Memory ordering
            /// None: relaxed.
            #[inline]
            #[must_use]
            pub fn is_saturated(&self) -> bool {
                self.read() > Self::MAX
            }

            increments!($value);
            decrements!($value);
            old_values!($value);
            locks!($name);

            /// Saturates the count and reports why.
            #[cold]
            #[inline(never)]
            #[track_caller]
            fn saturate(&self, event: Event) {
                // Relaxed: an object that is never freed needs no order. Ends the flight of this operation (Invariant
                // 1).
                self.0.store(Self::PINNED, Relaxed);
                self.report(event);
            }

            /// Reports misuse that a looping operation found, after it has stored.
            #[cold]
            #[inline(never)]
            #[track_caller]
            fn report(&self, event: Event) {
                report(event, (&raw const self.0).addr(), Location::caller());
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut tuple = f.debug_tuple(stringify!($name));
                match self.read() {
                    count if count > Self::MAX => tuple.field(&format_args!("saturated")),
                    count => tuple.field(&count),
                };
                tuple.finish()
            }
        }
    )* };
}

refcounts! {
    /// A reference count of 32 bits that saturates.
    Refcount: u32, AtomicU32;
    /// A reference count of 64 bits that saturates. No number of operations in flight can take it out of saturation.
    #[doc(alias = "refcount_long_t")]
    Refcount64: u64, AtomicU64;
}
