//! arch_prctl(2): the base of GS.
//!
//! # References
//! Linux Documentation/arch/x86/x86_64/fsgs.rst; arch_prctl(2).
//!
//! # Safety
//! 1. ARCH_GET_GS writes one word; ARCH_SET_GS takes a number.
#![expect(unsafe_code, reason = "arch_prctl has no wrapper in libc")]

use super::{auxv, failed};
use crate::error::Refusal;

const ARCH_SET_GS: libc::c_int = 0x1001; // arch/x86/include/uapi/asm/prctl.h
const ARCH_GET_GS: libc::c_int = 0x1004; // same place
const HWCAP2_FSGSBASE: usize = 1 << 1; // arch/x86/include/uapi/asm/hwcap2.h

/// Whether the kernel allows RDGSBASE and WRGSBASE. CPUID does not show it: before Linux 5.9 they trap.
pub(crate) fn has_fsgsbase() -> bool {
    auxv::get(libc::AT_HWCAP2) & HWCAP2_FSGSBASE != 0
}

/// The calling thread's base of GS.
///
/// # Errors
/// ENOSYS and EPERM from a filter.
pub(crate) fn gs_base() -> Result<usize, Refusal> {
    let mut base = 0usize;
    // SAFETY: writes `base` (Invariant 1).
    match unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_GET_GS, &raw mut base) } {
        0 => Ok(base),
        _ => Err(failed("arch_prctl ARCH_GET_GS")),
    }
}

/// Sets the calling thread's base of GS. A call that succeeds may still have no effect, under a filter: read it back.
///
/// # Safety
/// Nothing else in this thread uses GS.
///
/// # Errors
/// EPERM for an address that is not the program's; ENOSYS and EPERM from a filter.
pub(crate) unsafe fn set_gs_base(base: usize) -> Result<(), Refusal> {
    // SAFETY: the caller vouches that nothing else in this thread uses GS; the call takes numbers (Invariant 1).
    match unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, base) } {
        0 => Ok(()),
        _ => Err(failed("arch_prctl ARCH_SET_GS")),
    }
}
