//! The rseq symbols of a statically linked C library, which has no dynamic linker to look them up.
//!
//! The references are weak, so that a C library without the symbols (glibc before 2.35) links too. Only builds with the
//! target feature `crt-static` have this file. In other builds the linker would record the symbols' glibc version, and
//! the program would not start with a glibc that lacks it.
//!
//! # References
//! glibc manual, "Restartable Sequences".
//!
//! # Safety
//! 1. Where the symbols are defined, they have the types of glibc's <sys/rseq.h>, and are constant once the program's
//!    first constructors run.
#![expect(unsafe_code, reason = "stable Rust has no weak symbols")]

use super::weak::weak;

/// `__rseq_size` and `__rseq_offset`, if they are linked.
pub(crate) fn rseq_words() -> Option<(u32, isize)> {
    let (size, offset) = (weak!("__rseq_size" as u32), weak!("__rseq_offset" as isize));
    if size.is_null() || offset.is_null() {
        return None;
    }
    // SAFETY: not null, so it is linked, and the C library wrote it before `main` (Invariant 1).
    let size = unsafe { size.read() };
    // SAFETY: not null, so it is linked, and the C library wrote it before `main` (Invariant 1).
    let offset = unsafe { offset.read() };
    Some((size, offset))
}
