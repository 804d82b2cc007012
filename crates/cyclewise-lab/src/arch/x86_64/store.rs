//! A store that every CPU sees before the counter is read.
//!
//! MOV and MFENCE. Not `fence(SeqCst)`: LLVM makes a locked instruction of it, which orders memory and does not keep RDTSC
//! behind the store (seen on a Zen 3).
//!
//! # References
//! Intel SDM vol. 2, MFENCE; AMD APM vol. 3, the same.
//!
//! # Safety
//! The instructions store to a word that is borrowed, and change nothing else.
#![expect(unsafe_code, reason = "inline assembly")]

use core::arch::asm;
use core::sync::atomic::AtomicU64;

/// Stores `value`, and returns when every CPU sees it.
#[inline(always)]
pub(crate) fn store_and_wait(word: &AtomicU64, value: u64) {
    // SAFETY: an aligned word that lives as long as the borrow; the store is one instruction, as an atomic one is. No
    // nomem: it is memory, and what follows stays behind it.
    unsafe {
        asm!(
            "mov [{word}], {value}",
            "mfence",
            word = in(reg) word.as_ptr(),
            value = in(reg) value,
            options(nostack, preserves_flags)
        )
    };
}
