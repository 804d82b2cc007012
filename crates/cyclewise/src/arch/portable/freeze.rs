//! Bytes of padding become bytes with a value, whichever that is.

use core::mem::MaybeUninit;

/// Initializes every byte of the memory that has no value yet.
#[inline(always)]
pub(crate) fn freeze<T>(memory: &mut MaybeUninit<T>) {
    // The compiler has to take it for code that writes there.
    core::hint::black_box(memory);
}
