//! Making pages of text writable: mprotect(2).
//!
//! A seccomp filter can answer 0 for a call that it does not make, and a store into a page that is not writable is
//! SIGSEGV. So the kernel is asked to store there first: FUTEX_WAKE_OP stores into a word of the caller's, by its
//! protection, and says EFAULT where that forbids it.
//!
//! # References
//! Linux mm/mprotect.c, kernel/futex/waitwake.c (futex_atomic_op_inuser); futex(2).
//!
//! # Safety
//! 1. Whoever gets a range protected answers for what is in it; the function is unsafe for that.
//! 2. FUTEX_WAKE_OP with OR and 0 leaves the word as it is, in one atomic store, and wakes nobody who does not wait on
//!    one of its two words; an address that is not mapped is EFAULT.
#![expect(unsafe_code, reason = "mprotect, futex")]

use super::{errno, failed};
use crate::error::Refusal;
use core::sync::atomic::AtomicU32;

/// Bytes of a page. On x86-64 the smallest unit of protection; larger pages are split by the kernel.
pub(crate) const PAGE: usize = 4096;

/// Makes pages writable, or takes that back; readable and executable they stay.
///
/// # Safety
/// The range is whole pages of text that the caller changes under its own rules.
///
/// # Errors
/// EACCES under W^X policies (SELinux execmem, PR_SET_MDWE), EPERM from a seccomp filter, ENOMEM at the limit of
/// mappings; ENOSYS where a filter says that they became writable, and they did not. The pages are then as they were.
pub(crate) unsafe fn set_writable(start: usize, len: usize, writable: bool) -> Result<(), Refusal> {
    let write = if writable { libc::PROT_WRITE } else { 0 };
    let prot = libc::PROT_READ | libc::PROT_EXEC | write;
    // SAFETY: the caller answers for the range (Invariant 1).
    if unsafe { libc::mprotect(start as *mut libc::c_void, len, prot) } != 0 {
        return Err(failed("mprotect"));
    }
    if writable && refuses_stores(start) {
        return Err(Refusal::System {
            call: "mprotect",
            errno: libc::ENOSYS,
        });
    }
    Ok(())
}

/// Whether the word at `address`, which is aligned, cannot be stored to. Where futex(2) itself is forbidden that is not
/// known, and the answer is no.
fn refuses_stores(address: usize) -> bool {
    const OR_NOTHING: libc::c_int = libc::FUTEX_OP_OR << 28; // FUTEX_OP(OR, 0, EQ, 0), include/uapi/linux/futex.h
    let nobody_waits_here = AtomicU32::new(0);
    let operation = libc::FUTEX_WAKE_OP | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word stays as it is, and nobody is woken (Invariant 2).
    let woken = unsafe {
        libc::syscall(
            libc::SYS_futex,
            nobody_waits_here.as_ptr(),
            operation,
            0,
            0_usize,
            address,
            OR_NOTHING,
        )
    };
    woken < 0 && errno::last() == libc::EFAULT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_refuses_stores_and_a_local_takes_them() {
        let text = (text_refuses_stores_and_a_local_takes_them as fn() as usize).next_multiple_of(4);
        assert!(refuses_stores(text));
        let local = AtomicU32::new(0x1234_5678);
        assert!(!refuses_stores(local.as_ptr().expose_provenance()));
        assert_eq!(local.into_inner(), 0x1234_5678);
        assert!(refuses_stores(0));
    }
}
