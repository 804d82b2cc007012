//! mprotect(2): making pages of text writable.
//!
//! A seccomp filter can answer 0 without making the call, and a store into a page that is not writable is SIGSEGV. So the
//! kernel is asked to store there first ([`futex::refuses_stores`]).
//!
//! # Safety
//! 1. The caller guarantees what is in the range; the function is unsafe for that.
#![expect(unsafe_code, reason = "mprotect")]

use super::{failed, futex};
use crate::error::Refusal;

/// Bytes of a page. On x86-64 the smallest unit of protection; larger pages are split by the kernel.
pub(crate) const PAGE: usize = 4096;

/// Makes pages writable, or not; they stay readable and executable.
///
/// # Safety
/// The range is whole pages of text that the caller changes under its own rules.
///
/// # Errors
/// EACCES under W^X policies (SELinux execmem, PR_SET_MDWE), EPERM from a seccomp filter, ENOMEM at the limit of
/// mappings; ENOSYS where a filter answers 0. The pages are then as they were, except where they are several mappings: the
/// kernel changes one after another, up to the one that it refuses.
pub(crate) unsafe fn set_writable(start: usize, len: usize, writable: bool) -> Result<(), Refusal> {
    let write = if writable { libc::PROT_WRITE } else { 0 };
    let prot = libc::PROT_READ | libc::PROT_EXEC | write;
    // SAFETY: the caller guarantees what is in the range (Invariant 1).
    if unsafe { libc::mprotect(start as *mut libc::c_void, len, prot) } != 0 {
        return Err(failed("mprotect"));
    }
    if writable && futex::refuses_stores(start) {
        return Err(Refusal::System {
            call: "mprotect",
            errno: libc::ENOSYS,
        });
    }
    Ok(())
}
