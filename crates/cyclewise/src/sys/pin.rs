//! The calling thread's affinity and the base of GS.
//!
//! # References
//! Linux Documentation/arch/x86/x86_64/fsgs.rst; arch_prctl(2); sched_setaffinity(2).
//!
//! # Safety
//! 1. The kernel reads or writes at most the size that is passed with a mask, and one word for ARCH_GET_GS.
#![expect(unsafe_code, reason = "sched_setaffinity, arch_prctl, getauxval")]

use super::failed;
use crate::error::Refusal;

const ARCH_SET_GS: libc::c_int = 0x1001; // arch/x86/include/uapi/asm/prctl.h
const ARCH_GET_GS: libc::c_int = 0x1004; // same place
const HWCAP2_FSGSBASE: libc::c_ulong = 1 << 1; // arch/x86/include/uapi/asm/hwcap2.h

/// CPUs that a thread may run on, up to number 8191.
pub(crate) struct Mask([u64; 128]);

impl Mask {
    /// One CPU; none past the last number.
    pub(crate) fn one(cpu: u32) -> Option<Self> {
        let mut mask = [0; 128];
        *mask.get_mut(cpu as usize / 64)? = 1 << (cpu % 64);
        Some(Self(mask))
    }

    /// Whether a CPU is among them.
    #[cfg(test)]
    pub(crate) fn has(&self, cpu: u32) -> bool {
        self.0
            .get(cpu as usize / 64)
            .is_some_and(|word| word & 1 << (cpu % 64) != 0)
    }

    /// Those of the calling thread.
    ///
    /// # Errors
    /// EINVAL with more CPUs; EPERM and others from a filter.
    pub(crate) fn current() -> Result<Self, Refusal> {
        let mut mask = [0u64; 128];
        // SAFETY: Invariant 1.
        let bytes = unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size_of_val(&mask), mask.as_mut_ptr()) };
        if bytes > 0 {
            Ok(Self(mask))
        } else {
            Err(failed("sched_getaffinity"))
        }
    }

    /// Makes it the calling thread's. When this returns, it runs on one of these.
    ///
    /// # Errors
    /// EINVAL where none of them may be used.
    pub(crate) fn apply(&self) -> Result<(), Refusal> {
        // SAFETY: Invariant 1.
        let rc = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size_of_val(&self.0), self.0.as_ptr()) };
        if rc == 0 {
            Ok(())
        } else {
            Err(failed("sched_setaffinity"))
        }
    }

    /// Whether it is the calling thread's.
    pub(crate) fn is_current(&self) -> bool {
        Self::current().is_ok_and(|now| now.0 == self.0)
    }
}

/// Whether the kernel allows RDGSBASE and WRGSBASE. CPUID does not say: kernels before 5.9 have them trap.
pub(crate) fn has_fsgsbase() -> bool {
    // SAFETY: takes a number.
    (unsafe { libc::getauxval(libc::AT_HWCAP2) }) & HWCAP2_FSGSBASE != 0
}

/// The base of GS, by the kernel.
///
/// # Errors
/// ENOSYS and EPERM from a filter.
pub(crate) fn gs_base() -> Result<usize, Refusal> {
    let mut base = 0usize;
    // SAFETY: Invariant 1.
    match unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_GET_GS, &raw mut base) } {
        0 => Ok(base),
        _ => Err(failed("arch_prctl ARCH_GET_GS")),
    }
}

/// Sets the base of GS, by the kernel. Where it succeeds it may still have no effect: look.
///
/// # Safety
/// Nothing else in this thread uses GS.
///
/// # Errors
/// EPERM for an address that is not the program's; ENOSYS and EPERM from a filter.
pub(crate) unsafe fn set_gs_base(base: usize) -> Result<(), Refusal> {
    // SAFETY: the caller vouches that nothing else in this thread uses GS; the call takes numbers.
    match unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, base) } {
        0 => Ok(()),
        _ => Err(failed("arch_prctl ARCH_SET_GS")),
    }
}
