//! The frame that every body shares: entry, aligned loop, unrolled copies, exit.
//!
//! Registers: rdi counts iterations down, rsi is the arena; a body may use rax, rcx, rdx, r8 to r11 and balanced pushes.
//! The loop starts on a 64-byte boundary, so that a body's cost does not depend on where the linker put it.
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
                "test rdi, rdi",
                "jz 5f",
                $($setup,)*
                ".p2align 6",
                "2:",
                ".rept {copies}",
                $($op,)*
                ".endr",
                "3:",
                "dec rdi",
                "jnz 2b",
                "ret",
                "5:",
                "lea rax, [rip + 3b]",
                "lea rcx, [rip + 2b]",
                "sub rax, rcx",
                "ret",
                $($($after,)*)?
                copies = const $copies,
            )
        }
    };
}
