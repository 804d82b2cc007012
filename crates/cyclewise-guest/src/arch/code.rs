//! A piece of machine code that is never executed here: the compiler's assembler makes it, and the guest gets a copy.
//!
//! The bytes follow their length in a function that nobody calls. Code that is copied elsewhere has to be independent of its
//! position: jumps inside a piece are relative, and everything else is reached by the addresses of [`layout`](crate::layout).
//!
//! # Invariants
//! 1. A function made by `code64` or `code32` begins with the length of the bytes behind it, in 4 bytes.
//!
//! # Safety
//! [`Code::bytes`] reads what Invariant 1 describes. The functions are never called.
#![allow(
    unsafe_code,
    reason = "naked functions whose bytes are read; the lint fires where the macros are used"
)]

/// Code of `$mode`, one of `.code64` and `.code32`; names stand for constants.
macro_rules! code {
    ($mode:literal, [$($line:expr),* $(,)?] $(, $name:ident = $value:expr)* $(,)?) => {{
        // SAFETY: (of the attribute) the function is never called.
        #[unsafe(naked)]
        unsafe extern "C" fn bytes() {
            core::arch::naked_asm!(
                ".long 99f - 98f",
                $mode,
                "98:",
                $($line,)*
                "99:",
                ".code64",
                $($name = const $value,)*
            )
        }
        // SAFETY: the length stands before the bytes (Invariant 1 of `code`).
        unsafe { $crate::arch::code::Code::at(bytes) }
    }};
}

macro_rules! code64 {
    ($($all:tt)*) => { $crate::arch::code::code!(".code64", $($all)*) };
}

macro_rules! code32 {
    ($($all:tt)*) => { $crate::arch::code::code!(".code32", $($all)*) };
}

pub(crate) use {code, code32, code64};

/// A piece of machine code.
#[derive(Clone, Copy)]
pub struct Code(unsafe extern "C" fn());

impl Code {
    /// # Safety
    /// The function was made by one of the macros of this module (Invariant 1).
    pub(super) const unsafe fn at(function: unsafe extern "C" fn()) -> Self {
        Self(function)
    }

    /// No instruction.
    pub const NOTHING: Self = code!(".code64", []);

    /// Its bytes.
    pub fn bytes(self) -> &'static [u8] {
        let start = self.0 as *const u8;
        // SAFETY: a function made by the macros has at least these 4 bytes (Invariant 1); text is readable.
        let length = unsafe { start.cast::<u32>().read_unaligned() };
        let first = start.wrapping_add(size_of::<u32>());
        // SAFETY: so many bytes follow (Invariant 1), in text that nobody writes.
        unsafe { std::slice::from_raw_parts(first, length as usize) }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn code_has_the_bytes_of_its_instructions_in_either_mode() {
        assert_eq!(code64!(["push r8", "popfq"]).bytes(), [0x41, 0x50, 0x9d]);
        assert_eq!(code32!(["push eax", "popfd"]).bytes(), [0x50, 0x9d]);
        assert_eq!(
            code64!(["mov eax, {word}"], word = 0x1234).bytes(),
            [0xb8, 0x34, 0x12, 0, 0]
        );
        assert_eq!(code32!([]).bytes(), []);
        // The twin: the same text is other bytes in the other mode.
        assert_ne!(code64!(["inc eax"]).bytes(), code32!(["inc eax"]).bytes());
    }
}
