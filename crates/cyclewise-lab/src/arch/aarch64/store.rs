//! A store that every CPU sees before the counter is read.
//!
//! STR and DSB ISH, which completes when the store is seen. Not DMB, which `fence(SeqCst)` is: it orders accesses of memory,
//! and the counter is none.
//!
//! # References
//! Arm ARM DDI 0487, B2.3.12 (DSB).
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
            "str {value}, [{word}]",
            "dsb ish",
            word = in(reg) word.as_ptr(),
            value = in(reg) value,
            options(nostack, preserves_flags)
        )
    };
}
