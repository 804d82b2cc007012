//! Notifies Valgrind that text has changed.
//!
//! Valgrind executes translations, and by default checks only code that is not mapped from a file for changes
//! (`--smc-check=all-non-file`), so it would execute the program's old text for ever. A request is a sequence of
//! instructions that does nothing on a processor and that no compiler emits.
//!
//! # Cost
//! Five instructions. Valgrind repeats every translation.
//!
//! # References
//! Valgrind include/valgrind.h: `__SPECIAL_INSTRUCTION_PREAMBLE`, VG_USERREQ__DISCARD_TRANSLATIONS.
//!
//! # Safety
//! 1. The rotations add up to 128 bits, and a register is exchanged with itself, so no register changes.
#![expect(unsafe_code, reason = "a sequence of instructions that Valgrind recognizes")]

use core::arch::asm;

/// VG_USERREQ__DISCARD_TRANSLATIONS of valgrind.h.
const DISCARD_TRANSLATIONS: usize = 0x1002;
/// The size of the user's address space with four levels of page tables.
const EVERYTHING: usize = 1 << 47;

/// Makes Valgrind discard its translations; does nothing elsewhere.
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
