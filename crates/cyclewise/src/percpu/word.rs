//! Words: the integers and pointers that a sequence can change in one instruction.
//!
//! # Safety
//! 1. A word's type and its bits have the same size and alignment, and every bit pattern is a value.
#![expect(unsafe_code, reason = "words that other threads change are loaded as atomics")]

use crate::arch::gs::Gs;
use crate::arch::rseq::Sections;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

mod sealed {
    use super::Bits;

    pub trait Sealed: Copy {
        /// The integer of the same size.
        type Bits: Bits;
        fn bits(self) -> Self::Bits;
        fn of_bits(bits: Self::Bits) -> Self;
    }
}
pub(super) use sealed::Sealed;

/// A word: an integer of 8 to 64 bits, or a pointer.
pub trait Word: Sealed + Zeroed + 'static {}

/// A word that can be added to.
pub trait Integer: Word {
    /// Adds, and wraps around.
    fn wrapping_sum(self, other: Self) -> Self;
}

/// Types for which all zeroes, a slot's initial contents, are a value.
///
/// # Safety
/// All zero bytes are a valid value, which needs no drop.
pub unsafe trait Zeroed {}

/// An unsigned integer that the backends can change.
pub trait Bits: Copy + Eq + core::ops::BitAnd<Output = Self> + core::ops::BitOr<Output = Self> + Asm {
    /// Adds, and wraps around.
    fn sum(self, other: Self) -> Self;
    /// Loads, relaxed.
    ///
    /// # Safety
    /// `at` is a valid aligned word that only atomics and sequences change.
    unsafe fn load(at: *mut Self) -> Self;
    /// Stores, as a release.
    ///
    /// # Safety
    /// As for [`load`](Self::load).
    unsafe fn store(at: *mut Self, value: Self);
}

/// The instructions of `arch` on it.
#[expect(private_bounds, reason = "not for other crates")]
pub trait Asm: Sections + Gs {}

macro_rules! bits {
    ($($bits:ty, $atomic:ident;)*) => { $(
        impl Asm for $bits {}
        impl Bits for $bits {
            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: the caller vouches for a valid aligned word that only atomics and sequences change.
                let word = unsafe { $atomic::from_ptr(at) };
                // Relaxed: pairs with nothing; the slot's lock or the barrier of a stop orders it.
                word.load(Ordering::Relaxed)
            }
            #[inline(always)]
            unsafe fn store(at: *mut Self, value: Self) {
                // SAFETY: the caller vouches for a valid aligned word that only atomics and sequences change.
                let word = unsafe { $atomic::from_ptr(at) };
                // Release: for the operations that promise it; Relaxed would do for the others.
                word.store(value, Ordering::Release);
            }
        }
    )* };
}

bits! { u8, AtomicU8; u16, AtomicU16; u32, AtomicU32; u64, AtomicU64; }

macro_rules! integers {
    ($($value:ty as $bits:ty;)*) => { $(
        impl Sealed for $value {
            type Bits = $bits;
            #[inline(always)]
            fn bits(self) -> $bits {
                self as $bits
            }
            #[inline(always)]
            fn of_bits(bits: $bits) -> Self {
                bits as $value
            }
        }
        // SAFETY: zero is a value.
        unsafe impl Zeroed for $value {}
        impl Word for $value {}
        impl Integer for $value {
            #[inline(always)]
            fn wrapping_sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )* };
}

integers! {
    u8 as u8; u16 as u16; u32 as u32; u64 as u64;
    i8 as u8; i16 as u16; i32 as u32; i64 as u64;
}

integers! { usize as Address; isize as Address; }

#[cfg(target_pointer_width = "64")]
type Address = u64;
#[cfg(target_pointer_width = "32")]
type Address = u32;

impl<T: 'static> Sealed for *mut T {
    type Bits = Address;
    #[inline(always)]
    fn bits(self) -> Address {
        self.expose_provenance() as Address
    }
    #[inline(always)]
    fn of_bits(bits: Address) -> Self {
        core::ptr::with_exposed_provenance_mut(bits as usize)
    }
}
// SAFETY: null is a value.
unsafe impl<T> Zeroed for *mut T {}
impl<T: 'static> Word for *mut T {}

// SAFETY: every element is zeroed.
unsafe impl<T: Zeroed, const N: usize> Zeroed for [T; N] {}
