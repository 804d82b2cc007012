//! INC and DEC of a word at a constant offset from a pointer, each with a LOCK prefix that is a site.
//!
//! A count stored before its value needs an LEA if the instruction takes only an address, because `asm` has no memory
//! operands that the compiler could fold the offset into. Here the offset is the displacement, which saves one
//! instruction of six in a loop over references.
//!
//! # Safety
//! The contract of `rmw`, for the word at `base + D`.
#![expect(unsafe_code, reason = "instructions with a patchable prefix")]

use super::lock_prefix::lock;
use core::arch::asm;
use core::sync::atomic::Ordering;

macro_rules! rmw_at_offset {
    ($($name:ident, $what:literal, $instruction:literal;)*) => { $(
        #[doc = concat!($what, " one; true where the result is negative.")]
        ///
        /// # Safety
        /// There is an `AtomicUsize` at `base + D`, in the same allocation, valid during the call.
        #[inline(always)]
        pub(crate) unsafe fn $name<const D: isize>(base: *const u8, _: Ordering) -> bool {
            // SAFETY: the caller guarantees the atomic, which one instruction changes; the jump leads to the block.
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
