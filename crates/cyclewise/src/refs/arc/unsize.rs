//! From `Arc<T>` to `Arc<dyn Trait>` or `Arc<[T]>`, and back by `downcast`; from `Weak<T>` to `Weak<dyn Trait>`.
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
//! 3. Of a reference to an [`Unsizing`] nothing is read but its address and its metadata: not by the closure, for the
//!    field is private and there is no function of it, and not here.
//!
//! # Safety
//! The proofs cite these, and those of [`Arc`] and [`Weak`].
#![expect(unsafe_code, reason = "metadata carried from one pointer to another")]

use super::Arc;
use super::allocation::with_metadata_of;
use super::weak::Weak;
use core::any::Any;
use core::mem::{ManuallyDrop, MaybeUninit, size_of_val};
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
        let after = coerced(before, coerce);
        let this = ManuallyDrop::new(this);
        // The reference may be used for the value alone; the Arc's own pointer, for the counts as well.
        let value = with_metadata_of(this.value.cast(), after);
        // SAFETY: the same value under a type it coerces to (Invariant 2), with the unit that `this` had.
        unsafe { Arc::from_value(value) }
    }
}

impl<T> Weak<T> {
    /// The same reference as one to a trait object or a slice. `coerce` is `|value| value`, as in [`Arc::unsize`]: so
    /// [`Arc::new_cyclic`] gives a value weak references to itself by a trait of its own.
    ///
    /// ```
    /// use cyclewise::refs::{Arc, Weak};
    /// use std::fmt::Debug;
    ///
    /// #[derive(Debug)]
    /// struct Node(Weak<dyn Debug + Send + Sync>);
    ///
    /// let node = Arc::new_cyclic(|me| Node(Weak::unsize(me.clone(), |value| value)));
    /// assert_eq!(format!("{:?}", node.0.upgrade().unwrap()), "Node((Weak))");
    /// ```
    ///
    /// A part of the value is not the value, and neither is another value:
    ///
    /// ```compile_fail
    /// use cyclewise::refs::Weak;
    ///
    /// let part: Weak<u8> = Weak::unsize(Weak::<(u8, u8)>::new(), |value| &value.0);
    /// ```
    ///
    /// # Panics
    /// Where `coerce` does; then the reference is dropped.
    #[must_use]
    pub fn unsize<U: ?Sized>(this: Self, coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> Weak<U> {
        // The value may be gone, half gone, not there yet or another thread's, so what is coerced is a reference to memory
        // of this function's own, for the sake of its metadata. There is no value in it (Invariant 3).
        let place = MaybeUninit::<Unsizing<T>>::uninit();
        // SAFETY: aligned and as large as a T, and nobody reads it (Invariant 3). That a reference to memory without a
        // value may exist is not promised by the language yet; compilers look at the memory alone.
        let before = unsafe { &*place.as_ptr() };
        let after = coerced(before, coerce);
        let this = ManuallyDrop::new(this);
        let value = with_metadata_of(this.value.cast(), after);
        // SAFETY: the same memory under a type that a value in it coerces to (Invariant 2), or the address of a Weak without
        // memory; with the unit that `this` had.
        unsafe { Weak::from_value(value) }
    }
}

/// What the reference is coerced to: of use for its metadata.
fn coerced<T: ?Sized, U: ?Sized>(
    before: &Unsizing<T>,
    coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>,
) -> *const U {
    let after = coerce(before);
    // By Invariant 2 neither can fail; both are gone from optimized code.
    assert!(
        ptr::addr_eq(after, before) && size_of_val(after) == size_of_val(before),
        "the coercion of a reference is the same value"
    );
    &raw const *after as *const U
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
