//! The words of the text's lock, one set for a whole link unit whatever number of copies of this crate is in it.
//!
//! Two versions of the crate share pages of text, so they have to share the lock. A Rust static is one per version; a
//! common symbol is one per link unit: each copy defines it, the linker keeps one. Hidden, because another link unit has
//! other pages and its own lock. The `_v1` is the layout's and the protocol's version.
//!
//! # References
//! gABI, SHN_COMMON and STV_HIDDEN.
//!
//! # Safety
//! 1. The symbol is 8 zeroed bytes aligned to 4 that live as long as the link unit and are used as [`Words`] alone.
#![expect(unsafe_code, reason = "a symbol that only the assembler can share")]

use core::arch::asm;
use core::sync::atomic::{AtomicI32, AtomicU32};

/// See `patch::lock` for what they mean.
#[repr(C)]
pub(crate) struct Words {
    /// Thread that holds it, or 0.
    pub(crate) owner: AtomicI32,
    /// How often it holds it.
    pub(crate) depth: AtomicU32,
}

/// The words of this link unit.
pub(crate) fn words() -> &'static Words {
    let at: *const Words;
    // SAFETY: computes an address. The definition may be assembled any number of times.
    unsafe {
        asm!(
            ".comm cyclewise_text_lock_v1, 8, 4",
            ".hidden cyclewise_text_lock_v1",
            "lea {at}, [rip + cyclewise_text_lock_v1]",
            at = out(reg) at,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    // SAFETY: Invariant 1; all zeroes are valid words.
    unsafe { &*at }
}
