//! The frame that every body shares: entry, aligned loop, unrolled copies, exit.
//!
//! Registers: x0 counts iterations down, x1 is the arena, x15 keeps the return address; a body may use x8 to x14.
//!
//! # Safety
//! A function made here follows the C calling convention, balances its stack and ends in a return. The file
//! that names the operation says what it touches.
#![allow(
    unsafe_code,
    reason = "macros whose expansion is unsafe; the lint fires where they are used"
)]

/// Defines a function `$name` with `$copies` unrolled copies of `$op`, after `$setup`.
#[doc(hidden)]
#[macro_export]
macro_rules! looped {
    ($name:ident, $copies:expr, [$($setup:literal),*], [$($op:literal),*] $(, after [$($after:literal),*])?) => {
        // SAFETY: (of the attribute) the assembly follows the C calling convention and ends in RET.
        #[unsafe(naked)]
        unsafe extern "C" fn $name(iterations: u64, arena: *mut u64) -> u64 {
            core::arch::naked_asm!(
                "cbz x0, 5f",
                "mov x15, x30",
                $($setup,)*
                // x0 is an argument and result of a system call, so the count lives in x14.
                "mov x14, x0",
                ".p2align 6",
                "2:",
                ".rept {copies}",
                $($op,)*
                ".endr",
                "3:",
                "subs x14, x14, #1",
                "b.ne 2b",
                "ret x15",
                "5:",
                "adr x0, 3b",
                "adr x9, 2b",
                "sub x0, x0, x9",
                "ret",
                $($($after,)*)?
                copies = const $copies,
            )
        }
    };
}
