//! Bytes of padding become bytes with a value, whichever that is, by a block of no instruction.
//!
//! The block may write to the memory that it is given the address of. So what is there afterwards is what it "wrote": the bytes that have a
//! value keep it, and the others have one that nobody knows.
//!
//! # Safety
//! 1. The block has no instruction, so what it may do is what the compiler has to expect of it.
#![expect(unsafe_code, reason = "no function of core promises this")]

use core::arch::asm;
use core::mem::MaybeUninit;

/// Initializes every byte of the memory that has no value yet.
#[inline(always)]
pub(crate) fn freeze<T>(memory: &mut MaybeUninit<T>) {
    // No nomem and no readonly: it counts as a write.
    // SAFETY: no instruction (Invariant 1).
    unsafe { asm!("/* {at} */", at = in(reg) memory.as_mut_ptr(), options(nostack, preserves_flags)) };
}
