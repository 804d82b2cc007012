//! The words of the text's lock, one set for a whole link unit whatever number of copies of this crate is in it.
//!
//! Two versions of the crate share pages of text, so they have to share the lock. A Rust static is one per version; a
//! common symbol is one per link unit: each copy defines it, the linker keeps one. Hidden, because another link unit has
//! other pages and its own lock. The `_v2` is the layout's and the protocol's version.
//!
//! # References
//! gABI, SHN_COMMON and STV_HIDDEN.
//!
//! # Safety
//! 1. The symbol is 32 zeroed bytes aligned to 8 that live as long as the link unit and are used as [`Words`] alone.
#![expect(unsafe_code, reason = "a symbol that only the assembler can share")]

use core::arch::asm;
use core::sync::atomic::AtomicU64;

/// All zero at first.
#[repr(C)]
pub(crate) struct Words {
    /// Who holds the lock; see `patch::owner_word`.
    pub(crate) owner: AtomicU64,
    /// Of `sys::fork_generation`.
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
