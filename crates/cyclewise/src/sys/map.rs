//! Memory of the process's own: mmap(2) of pages that appear when they are first touched.
//!
//! # Safety
//! 1. The kernel places a mapping where nothing is.
#![expect(unsafe_code, reason = "mmap, madvise, munmap")]

use super::failed;
use crate::error::Refusal;
use core::ptr::NonNull;

/// `length` bytes of zeroes, aligned to a page. A page takes memory when it is first written, on the memory node of the CPU
/// that writes it. Never huge pages: one would cover many CPUs' areas.
///
/// # Errors
/// ENOMEM at a limit of address space or of mappings.
pub(crate) fn reserve(length: usize) -> Result<NonNull<u8>, Refusal> {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: Invariant 1.
    let at = unsafe { libc::mmap(core::ptr::null_mut(), length, prot, flags, -1, 0) };
    match NonNull::new(at.cast()) {
        Some(start) if at != libc::MAP_FAILED => {
            // A kernel without huge pages refuses, and has none to give.
            // SAFETY: advice on a mapping of ours; it changes no contents.
            unsafe { libc::madvise(at, length, libc::MADV_NOHUGEPAGE) };
            Ok(start)
        }
        _ => Err(failed("mmap")),
    }
}

/// Gives it back.
///
/// # Safety
/// [`reserve`] returned it for this length, and nobody uses it any more.
pub(crate) unsafe fn release(start: NonNull<u8>, length: usize) {
    // SAFETY: the caller vouches that it is a mapping of `reserve`'s, of this length, that nobody uses. It cannot
    // fail for a whole one.
    unsafe { libc::munmap(start.as_ptr().cast(), length) };
}
