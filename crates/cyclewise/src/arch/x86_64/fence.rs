//! The full barrier: a LOCK-prefixed OR of nothing into a word of our own, whose prefix is a site.
//!
//! Not MFENCE, which is what std emits: it has no prefix to take away. The
//! word is this function's and on a line that the stack keeps warm.
//!
//! # References
//! Intel SDM vol. 3, 8.2.3.9: reads and writes are ordered with locked instructions. Linux arch/x86/include/asm/barrier.h,
//! `__smp_mb`.
//!
//! # Safety
//! 1. The operand is a local that nobody else knows, and OR with 0 leaves it as it is, initialized or not.
//! 2. No `nomem`: the compiler may not move other accesses across. No `preserves_flags`: OR sets them.
#![expect(unsafe_code, reason = "an instruction with a patchable prefix")]

use super::site::lock;
use core::arch::asm;
use core::mem::MaybeUninit;

/// Orders everything before with everything after: for all CPUs with LOCK in force, for this one while elided.
#[inline(always)]
pub(crate) fn fence() {
    let mut word = MaybeUninit::<u32>::uninit();
    // SAFETY: Invariant 1.
    unsafe {
        asm!(
            lock!(),
            "or dword ptr [{word}], 0",
            word = in(reg) word.as_mut_ptr(),
            options(nostack),
        );
    }
}
