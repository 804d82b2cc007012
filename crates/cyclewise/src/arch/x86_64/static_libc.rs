//! The rseq symbols of a statically linked C library, which has no dynamic linker to look them up.
//!
//! The references are weak, so that a C library without the symbols (glibc before 2.35) links too. Only builds with the
//! target feature `crt-static` have this file. In other builds the linker would record the symbols' glibc version, and
//! the program would not start with a glibc that lacks it.
//!
//! # References
//! glibc manual, "Restartable Sequences"; gABI, STB_WEAK; System V ABI, AMD64, 4.4 (GOTPCREL).
//!
//! # Safety
//! 1. Where the symbols are defined, they have the types of glibc's <sys/rseq.h>, and are constant once the program's
//!    first constructors run.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use core::arch::asm;

/// `__rseq_size` and `__rseq_offset`, if they are linked.
pub(crate) fn rseq_words() -> Option<(u32, isize)> {
    let (size, offset): (*const u32, *const isize);
    // SAFETY: computes two addresses, null for an undefined symbol.
    unsafe {
        asm!(
            ".weak __rseq_size",
            ".weak __rseq_offset",
            "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
            "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
            size = out(reg) size,
            offset = out(reg) offset,
            options(pure, nomem, nostack, preserves_flags),
        )
    };
    if size.is_null() || offset.is_null() {
        return None;
    }
    // SAFETY: not null, so it is linked, and the C library wrote it before `main` (Invariant 1).
    let size = unsafe { size.read() };
    // SAFETY: not null, so it is linked, and the C library wrote it before `main` (Invariant 1).
    let offset = unsafe { offset.read() };
    Some((size, offset))
}
