//! INC and DEC of a word at a fixed distance from the pointer at hand, each with a LOCK prefix that is a site.
//!
//! An instruction that is given an address alone needs an LEA before it for a count that lies in front of its value, and
//! an `asm` block has no memory operands for the compiler to fold the distance into. Here it is the displacement.
//! In a loop over references that is one instruction of six.
//!
//! # Safety
//! As the invariants of `rmw`, for the word at `base + D`.
#![expect(unsafe_code, reason = "instructions with a patchable prefix")]

use super::lock_prefix::lock;
use core::arch::asm;
use core::sync::atomic::Ordering;

macro_rules! rmw_at_offset {
    ($($name:ident, $what:literal, $instruction:literal;)*) => { $(
        #[doc = concat!($what, " one; true where the result is negative.")]
        ///
        /// # Safety
        /// There is an `AtomicUsize` at `base + D`, in the same allocation, and it stays there meanwhile.
        #[inline(always)]
        pub(crate) unsafe fn $name<const D: isize>(base: *const u8, _: Ordering) -> bool {
            // SAFETY: the caller says that an atomic is there, which one instruction changes; the jump leads to the block.
            unsafe {
                asm!(
                    lock!(),
                    concat!($instruction, " qword ptr [{p} + {d}]"),
                    "js {yes}",
                    p = in(reg) base,
                    d = const D,
                    yes = label { return true },
                    options(nostack),
                )
            }
            false
        }
    )* };
}

rmw_at_offset! {
    inc_negative_at, "Adds", "inc";
    dec_negative_at, "Subtracts", "dec";
}
