//! From `Arc<T>` to `Arc<dyn Trait>` or `Arc<[T]>`, and back by `downcast`; from `Weak<T>` to `Weak<dyn Trait>`.
//!
//! std's `Arc` coerces by `CoerceUnsized`, which is not stable. References coerce on any compiler: the caller's closure
//! coerces one, and the `Arc` takes over its type.
//!
//! # Invariants
//! 1. An [`Unsizing`] has a private field and no constructor: only this file can make one or reach its field.
//! 2. The closure works for every lifetime and captures nothing, so the only `&'a Unsizing<U>` it can return is its
//!    argument, coerced: a stored one would have another lifetime, and one to a part of the value would need the
//!    private field.
//!
//! 3. Nothing but the address and the metadata of a reference to an [`Unsizing`] is read: not by the closure, because
//!    the field is private and the type has no methods, and not here.
//!
//! # Safety
//! The proofs cite these, and those of [`Arc`] and [`Weak`].
#![expect(unsafe_code, reason = "metadata carried from one pointer to another")]

use super::Arc;
use super::allocation::with_metadata_of;
use super::weak::Weak;
use alloc::boxed::Box;
use core::any::Any;
use core::mem::{ManuallyDrop, MaybeUninit, size_of_val};
use core::ptr::{self, NonNull};

/// A value that can be coerced and not read; see [`Arc::unsize`].
#[repr(transparent)]
pub struct Unsizing<T: ?Sized>(T);

impl<T: ?Sized> Arc<T> {
    /// The same reference to the value as a trait object or a slice. Pass `|value| value` as `coerce`: the compiler
    /// inserts the coercion and rejects anything else.
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
    /// A part of the value is rejected:
    ///
    /// ```compile_fail
    /// use cyclewise::refs::Arc;
    ///
    /// let part: Arc<u8> = Arc::unsize(Arc::new((1u8, 2u8)), |value| &value.0);
    /// ```
    ///
    /// # Panics
    /// If `coerce` panics; then the reference is dropped.
    #[must_use]
    pub fn unsize<U: ?Sized>(this: Self, coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> Arc<U> {
        // SAFETY: an Unsizing has the layout of its field, and the value is live while `this` is borrowed.
        let before = unsafe { &*(this.value.as_ptr() as *const Unsizing<T>) };
        let after = coerced(before, coerce);
        let this = ManuallyDrop::new(this);
        // The reference gives access to the value only; the Arc's own pointer also to the counts.
        let value = with_metadata_of(this.value.cast(), after);
        // SAFETY: the same value as a type it coerces to (Invariant 2), with the unit that `this` had.
        unsafe { Arc::from_value(value) }
    }
}

impl<T> Weak<T> {
    /// The same reference to a trait object or a slice. Pass `|value| value` as `coerce`, as in [`Arc::unsize`]. With
    /// it [`Arc::new_cyclic`] can give a value weak references to itself as a trait object.
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
    /// A part of the value, or another value, is rejected:
    ///
    /// ```compile_fail
    /// use cyclewise::refs::Weak;
    ///
    /// let part: Weak<u8> = Weak::unsize(Weak::<(u8, u8)>::new(), |value| &value.0);
    /// ```
    ///
    /// For a type of more than 1 KiB it may allocate as much for the moment.
    ///
    /// # Panics
    /// If `coerce` panics; then the reference is dropped.
    #[must_use]
    pub fn unsize<U: ?Sized>(this: Self, coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> Weak<U> {
        // The value may be destroyed, incomplete or another thread's, so the closure coerces a reference to other
        // memory, of which only the metadata is used.
        let after = if size_of::<T>() <= LARGEST_IN_FRAME {
            coerced_in_frame(coerce)
        } else {
            coerced_on_heap(coerce)
        };
        let this = ManuallyDrop::new(this);
        let value = with_metadata_of(this.value.cast(), after);
        // SAFETY: the same memory as a type that its value coerces to (Invariant 2), or the address of a Weak without
        // memory; with the unit that `this` had.
        unsafe { Weak::from_value(value) }
    }
}

/// Memory in a frame is free, and a frame of the size of any value overflows the stack where it is not optimized away.
const LARGEST_IN_FRAME: usize = 1024;

/// The metadata of a coerced reference to memory that holds no value (Invariant 3).
fn coerced_in_frame<T, U: ?Sized>(coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> *const U {
    let place = MaybeUninit::<Unsizing<T>>::uninit();
    // SAFETY: aligned, as large as a T, and never read (Invariant 3). The language does not promise yet that a
    // reference to memory without a value may exist; compilers consider the memory alone.
    coerced(unsafe { &*place.as_ptr() }, coerce)
}

/// The same for values of any size.
fn coerced_on_heap<T, U: ?Sized>(coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>) -> *const U {
    let place = Box::<Unsizing<T>>::new_uninit();
    // SAFETY: as in `coerced_in_frame`.
    coerced(unsafe { &*place.as_ptr() }, coerce)
}

/// The coerced reference, of which the caller uses the metadata.
fn coerced<T: ?Sized, U: ?Sized>(
    before: &Unsizing<T>,
    coerce: for<'a> fn(&'a Unsizing<T>) -> &'a Unsizing<U>,
) -> *const U {
    let after = coerce(before);
    // By Invariant 2 neither can fail; the optimizer removes both.
    assert!(
        ptr::addr_eq(after, before) && size_of_val(after) == size_of_val(before),
        "the coercion of a reference is the same value"
    );
    &raw const *after as *const U
}

impl Arc<dyn Any + Send + Sync> {
    /// The same reference to the value as a `T`, if it is one.
    ///
    /// # Errors
    /// The same `Arc`, if the value has another type.
    pub fn downcast<T: Any + Send + Sync>(self) -> Result<Arc<T>, Self> {
        if !(*self).is::<T>() {
            return Err(self);
        }
        let value: NonNull<T> = ManuallyDrop::new(self).value.cast();
        // SAFETY: the value is a T, as just asked, and the unit is that of `self`.
        Ok(unsafe { Arc::from_value(value) })
    }
}
