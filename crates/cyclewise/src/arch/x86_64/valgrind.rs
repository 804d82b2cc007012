//! Telling Valgrind that text has changed.
//!
//! Valgrind executes translations, and by default looks for changes only of code that came from no file
//! (`--smc-check=all-non-file`): it would go on with the old text of the program for ever. A request is a sequence of
//! instructions that does nothing on a processor and that no compiler emits.
//!
//! # Cost
//! Five instructions. Under Valgrind every translation is made anew.
//!
//! # References
//! Valgrind include/valgrind.h: `__SPECIAL_INSTRUCTION_PREAMBLE`, VG_USERREQ__DISCARD_TRANSLATIONS.
//!
//! # Safety
//! 1. The rotations add up to 128 bits and the exchange is of a register with itself, so that all registers are as before.
#![expect(unsafe_code, reason = "a sequence of instructions that Valgrind knows")]

use core::arch::asm;

/// VG_USERREQ__DISCARD_TRANSLATIONS of valgrind.h.
const DISCARD_TRANSLATIONS: usize = 0x1002;
/// The user's half of the addresses with four levels of page tables, from 0 on.
const EVERYTHING: usize = 1 << 47;

/// Has Valgrind forget what it made of the text; does nothing elsewhere.
pub(crate) fn discard_translations() {
    let request = [DISCARD_TRANSLATIONS, 0, EVERYTHING, 0, 0, 0];
    // SAFETY: changes flags and, under Valgrind, RDX (Invariant 1). Valgrind reads the six words.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") 0_usize => _,
            options(nostack),
        )
    };
}
