//! From `Arc<T>` to `Arc<dyn Trait>` or `Arc<[T]>`, and back by `downcast`.
//!
//! std's own `Arc` coerces by itself, by a trait (`CoerceUnsized`) that is not stable. References coerce on any
//! compiler, so the caller's closure coerces one, and the `Arc` takes over what the reference became.
//!
//! # Invariants
//! 1. An [`Unsizing`] has a private field and no constructor: nobody but this file can make one, or see into one.
//! 2. The closure works for every lifetime and captures nothing, so the only `&'a Unsizing<U>` it can return is the one
//!    it was given, coerced: one it had kept would have another lifetime, and one to a part of the value would need the
//!    private field.
//!
//! # Safety
//! The proofs cite these two, and those of [`Arc`].
#![expect(unsafe_code, reason = "metadata carried from one pointer to another")]

use super::inner::with_metadata_of;
use super::shared::Arc;
use core::any::Any;
use core::mem::{ManuallyDrop, size_of_val};
use core::ptr::{self, NonNull};

/// A value that can be coerced and not looked at; see [`Arc::unsize`].
#[repr(transparent)]
pub struct Unsizing<T: ?Sized>(T);

impl<T: ?Sized> Arc<T> {
    /// The same reference with the value as a trait object or a slice. `coerce` is `|value| value`: the compiler does
    /// the coercion there, and refuses what is not one.
    ///
    /// ```
    /// use cyclewise::refs::Arc;
    /// use std::fmt::Display;
    ///
    /// let number: Arc<dyn Display> = Arc::unsize(Arc::new(5), |value| value);
    /// let slice: Arc<[u8]> = Arc::unsize(Arc::new([1, 2, 3]), |value| value);
    /// assert_eq!((number.to_string(), slice.len()), (String::from("5"), 3));
    /// ```
    ///
    /// A part of the value is not the value:
    ///
    /// ```compile_fail
    /// use cyclewise::refs::Arc;
    ///
    /// let part: Arc<u8> = Arc::unsize(Arc::new((1u8, 2u8)), |value| &value.0);
    /// ```
    ///
    /// # Panics
    /// Where `coerce` does; then the reference is dropped.
    #[must_use]
    pub fn unsize<U: ?Sized>(this: Self, coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> Arc<U> {
        // SAFETY: an Unsizing is laid out as what it holds, and the value is live while `this` is borrowed.
        let before = unsafe { &*(this.value.as_ptr() as *const Unsizing<T>) };
        let after = coerce(before);
        // By Invariant 2 neither can fail; both are gone from optimized code.
        assert!(
            ptr::addr_eq(after, before) && size_of_val(after) == size_of_val(before),
            "the coercion of a reference is the same value"
        );
        let after = &raw const *after as *const U;
        let this = ManuallyDrop::new(this);
        // The reference may be used for the value alone; the Arc's own pointer, for the counts as well.
        let value = with_metadata_of(this.value.cast(), after);
        // SAFETY: the same value under a type it coerces to (Invariant 2), with the unit that `this` had.
        unsafe { Arc::from_value(value) }
    }
}

impl Arc<dyn Any + Send + Sync> {
    /// The value as what it is, if that is a `T`.
    ///
    /// # Errors
    /// The same `Arc`, where the value is something else.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        if !(*self).is::<T>() {
            return Err(self);
        }
        let value: NonNull<T> = ManuallyDrop::new(self).value.cast();
        // SAFETY: the value is a T, as just asked, and the unit is that of `self`.
        Ok(unsafe { Arc::from_value(value) })
    }
}
