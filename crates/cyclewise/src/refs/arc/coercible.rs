//! unsize: `Arc` and `Weak` take the coercions of that crate. Feature `unsize`.
//!
//! [`Arc::unsize`] does the same with a closure, and without another crate. Both are called `unsize`: that one takes the `Arc` as
//! an argument, this one is a method.
//!
//! ```
//! use cyclewise::refs::Arc;
//! use std::fmt::Display;
//! use unsize::{CoerceUnsize, Coercion};
//!
//! let number: Arc<dyn Display> = CoerceUnsize::unsize(Arc::new(5), Coercion!(to dyn Display));
//! assert_eq!(number.to_string(), "5");
//! ```
//!
//! # Safety
//! The caller of `replace_ptr` passes the same address with its metadata, and the pointer's right to the counts, which
//! `as_sized_ptr` gave out.
#![expect(unsafe_code, reason = "a pointer is replaced by a wider one")]

use super::Arc;
use super::weak::Weak;
use ::unsize::CoerciblePtr;
use core::mem::ManuallyDrop;
use core::ptr::NonNull;

// SAFETY: the new Arc has the pointer that it is given and the unit that `self` had.
unsafe impl<T, U: ?Sized> CoerciblePtr<U> for Arc<T> {
    type Pointee = T;
    type Output = Arc<U>;

    fn as_sized_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
    }

    unsafe fn replace_ptr(self, new: *mut U) -> Arc<U> {
        let _this = ManuallyDrop::new(self);
        // SAFETY: the caller passes the address of `self`, which is not null.
        let value = unsafe { NonNull::new_unchecked(new) };
        // SAFETY: the same value as a type that it coerces to, with the unit that `self` had.
        unsafe { Arc::from_value(value) }
    }
}

// SAFETY: the new Weak has the pointer that it is given and the unit that `self` had.
unsafe impl<T, U: ?Sized> CoerciblePtr<U> for Weak<T> {
    type Pointee = T;
    type Output = Weak<U>;

    fn as_sized_ptr(&mut self) -> *mut T {
        self.value.as_ptr()
    }

    unsafe fn replace_ptr(self, new: *mut U) -> Weak<U> {
        let _this = ManuallyDrop::new(self);
        // SAFETY: the caller passes the address of `self`, which is not null.
        let value = unsafe { NonNull::new_unchecked(new) };
        // SAFETY: the same memory, or the address of a Weak without memory, with the unit that `self` had.
        unsafe { Weak::from_value(value) }
    }
}
