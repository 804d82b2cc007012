//! The program's allocator, asked without the abort that `Box::new` ends in.
//!
//! # Safety
//! 1. A slice of one value has the value's layout.
#![expect(unsafe_code, reason = "a box of a slice becomes a box of its value")]

use crate::error::Refusal;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// A box of `value`, which is dropped where there is no memory.
///
/// # Errors
/// There is no memory.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, Refusal> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).map_err(|_| Refusal::NoMemory)?;
    one.push(value);
    let one = Box::into_raw(one.into_boxed_slice()).cast::<T>();
    // SAFETY: a box of one value, that was taken apart above (Invariant 1).
    Ok(unsafe { Box::from_raw(one) })
}
