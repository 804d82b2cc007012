//! [`WordSized`]: values of one word of 64 bits, which a structure of words can own.
//!
//! # Safety
//! 1. A type here has the size and alignment of its bits, and `from_bits` reverses `into_bits`.
#![expect(unsafe_code, reason = "boxes by address")]

use super::word::Sealed as Number;
use alloc::boxed::Box;

mod sealed {
    pub trait Sealed: Sized {
        /// Gives up the value for its bits.
        fn into_bits(self) -> u64;
        /// The value of the bits.
        ///
        /// # Safety
        /// `into_bits` of this type returned them, and no other value is made of them.
        unsafe fn from_bits(bits: u64) -> Self;
    }
}
pub(super) use sealed::Sealed;

/// A value of one word of 64 bits: an integer, a pointer, or a box. The owner of the word owns the box.
pub trait WordSized: Sealed {}

impl<T: Sealed> WordSized for T {}

macro_rules! integers {
    ($($value:ty),*) => { $(
        impl Sealed for $value {
            #[inline(always)]
            fn into_bits(self) -> u64 {
                Number::bits(self)
            }
            #[inline(always)]
            unsafe fn from_bits(bits: u64) -> Self {
                Number::of_bits(bits)
            }
        }
    )* };
}

integers!(u64, i64);
/// Words of 32 bits are values of no word here.
#[cfg(target_pointer_width = "64")]
mod addresses {
    use super::*;
    use core::ptr::{self, NonNull};

    integers!(usize, isize);

    impl<T> Sealed for *mut T {
        #[inline(always)]
        fn into_bits(self) -> u64 {
            self.expose_provenance() as u64
        }
        #[inline(always)]
        unsafe fn from_bits(bits: u64) -> Self {
            ptr::with_exposed_provenance_mut(bits as usize)
        }
    }

    impl<T> Sealed for NonNull<T> {
        #[inline(always)]
        fn into_bits(self) -> u64 {
            self.as_ptr().into_bits()
        }
        #[inline(always)]
        unsafe fn from_bits(bits: u64) -> Self {
            // SAFETY: the caller vouches that `into_bits` returned them, once.
            let at = unsafe { <*mut T>::from_bits(bits) };
            // SAFETY: not null when it was given up.
            unsafe { Self::new_unchecked(at) }
        }
    }

    impl<T> Sealed for Box<T> {
        #[inline(always)]
        fn into_bits(self) -> u64 {
            Self::into_raw(self).into_bits()
        }
        #[inline(always)]
        unsafe fn from_bits(bits: u64) -> Self {
            // SAFETY: the caller vouches that `into_bits` returned them, once.
            let at = unsafe { <*mut T>::from_bits(bits) };
            // SAFETY: a box that was given up, and has no other owner.
            unsafe { Self::from_raw(at) }
        }
    }
}
