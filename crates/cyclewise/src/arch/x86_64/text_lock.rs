//! The words of the text lock: one set per link unit, shared by all copies of this crate in it.
//!
//! Two versions of the crate share pages of text, so they must share the lock. Each version has its own Rust statics; a
//! common symbol is defined by each copy, and the linker keeps one per link unit. It is hidden, because another link
//! unit has other pages and its own lock. `_v2` is the version of layout and protocol.
//!
//! # References
//! gABI, SHN_COMMON and STV_HIDDEN.
//!
//! # Safety
//! 1. The symbol is 32 zeroed bytes aligned to 8 that live as long as the link unit and are used as [`Words`] only.
#![expect(unsafe_code, reason = "a symbol that only the assembler can share")]

use core::arch::asm;
use core::sync::atomic::AtomicU64;

/// All zero at first.
#[repr(C)]
pub(crate) struct Words {
    /// The owner of the lock; see `patch::owner_word`.
    pub(crate) owner: AtomicU64,
    /// Used by `sys::fork_generation`.
    pub(crate) generation: [AtomicU64; 3],
}

/// The words of this link unit, all zero at first. Not inlined: another unit's code would find its own.
#[inline(never)]
pub(crate) fn words() -> &'static Words {
    let at: *const Words;
    // SAFETY: computes an address. The definition may be assembled any number of times.
    unsafe {
        asm!(
            ".comm cyclewise_text_lock_v2, 32, 8",
            ".hidden cyclewise_text_lock_v2",
            "lea {at}, [rip + cyclewise_text_lock_v2]",
            at = out(reg) at,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    // SAFETY: the linker laid out the symbol for `Words`, zeroed, for as long as this code is mapped (Invariant 1).
    unsafe { &*at }
}
