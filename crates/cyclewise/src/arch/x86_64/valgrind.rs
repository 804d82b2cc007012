//! Notifies Valgrind that text has changed, and asks whether it is there.
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

/// VG_USERREQ__RUNNING_ON_VALGRIND of valgrind.h.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// VG_USERREQ__DISCARD_TRANSLATIONS of valgrind.h.
const DISCARD_TRANSLATIONS: usize = 0x1002;
/// The size of the user's address space with four levels of page tables.
const EVERYTHING: usize = 1 << 47;

/// Makes Valgrind discard its translations; does nothing elsewhere.
pub(crate) fn discard_translations() {
    request([DISCARD_TRANSLATIONS, 0, EVERYTHING, 0, 0, 0]);
}

pub(crate) fn is_running() -> bool {
    request([RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
}

/// What Valgrind answers; 0 elsewhere.
fn request(request: [usize; 6]) -> usize {
    let mut answer = 0;
    // SAFETY: changes flags and, under Valgrind, RDX (Invariant 1). Valgrind reads the six words.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") request.as_ptr(),
            inout("rdx") answer,
            options(nostack),
        )
    };
    answer
}
