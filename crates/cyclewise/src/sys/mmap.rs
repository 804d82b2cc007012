//! mmap(2): new pages, and pages of a file.
//!
//! # Safety
//! 1. The kernel places a mapping where nothing is.
//! 2. No advice of this file changes the contents of pages that hold any.
#![expect(unsafe_code, reason = "mmap, madvise, munmap")]

use super::failed;
use super::file::File;
use crate::error::Refusal;
use core::ptr::NonNull;

const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;
const ANONYMOUS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;

/// `length` bytes of zeroes, aligned to a page.
///
/// # Errors
/// ENOMEM at a limit of address space or of mappings.
pub(crate) fn zeroes(length: usize) -> Result<NonNull<u8>, Refusal> {
    map(length, READ_WRITE, ANONYMOUS, -1)
}

/// [`zeroes`], not accounted for until a page is first written; then the page is on the memory node of the CPU that writes
/// it. Never huge pages: one would cover many CPUs' areas.
///
/// # Errors
/// As [`zeroes`].
pub(crate) fn reserve(length: usize) -> Result<NonNull<u8>, Refusal> {
    let start = map(length, READ_WRITE, ANONYMOUS | libc::MAP_NORESERVE, -1)?;
    // A kernel without huge pages refuses, and has none to give.
    advise(start, length, libc::MADV_NOHUGEPAGE);
    Ok(start)
}

/// The first `length` bytes of `file`, for reading, shared with its writers.
///
/// # Errors
/// EACCES, ENODEV, ENOMEM.
pub(super) fn map_file(file: &File, length: usize) -> Result<NonNull<u8>, Refusal> {
    map(length, libc::PROT_READ, libc::MAP_SHARED, file.number())
}

fn map(length: usize, protection: i32, flags: i32, file: i32) -> Result<NonNull<u8>, Refusal> {
    // SAFETY: Invariant 1.
    let at = unsafe { libc::mmap(core::ptr::null_mut(), length, protection, flags, file, 0) };
    // Null is a filter's answer of 0.
    match NonNull::new(at.cast()) {
        Some(start) if at != libc::MAP_FAILED => Ok(start),
        _ => Err(failed("mmap")),
    }
}

/// Gives the kernel advice on a mapping; whether it takes it.
pub(super) fn advise(start: NonNull<u8>, length: usize, advice: i32) -> bool {
    // SAFETY: a mapping of the caller's, whose contents stay (Invariant 2).
    unsafe { libc::madvise(start.as_ptr().cast(), length, advice) == 0 }
}

/// Unmaps.
///
/// # Safety
/// A function of this file returned `start` for this length, and nobody uses the mapping any more.
pub(crate) unsafe fn release(start: NonNull<u8>, length: usize) {
    // SAFETY: the caller vouches that it is a whole mapping that nobody uses. Unmapping a whole one cannot fail.
    unsafe { libc::munmap(start.as_ptr().cast(), length) };
}
