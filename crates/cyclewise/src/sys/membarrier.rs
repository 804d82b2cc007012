//! membarrier(2): every CPU that runs this process passes a full barrier, executes a serializing instruction too
//! (SYNC_CORE), or restarts its sequences too (RSEQ).
//!
//! # Memory ordering
//! A full barrier on every CPU that runs a thread of this process, the caller's included, between the call and its
//! return; a thread that does not run passes one before it runs again.
//!
//! # A call that is not made
//! A seccomp filter may answer 0 for the kernel, and then nobody has passed a barrier. So each call is made twice, first
//! with a flag that no kernel knows: the kernel refuses that, and whoever says that it went well has not looked. The
//! answer is not kept, because a filter is a thread's and may be installed at any time. A filter that answers 0 to the
//! flags of this file alone is not found out.
//!
//! # Cost
//! Two system calls, the first of which returns at once, and an interrupt to each CPU that runs another thread of this
//! process. Registering SYNC_CORE and RSEQ makes later context switches of the process dearer, so it is done by the
//! first call that needs it. Registering again is a short call that changes nothing.
//!
//! # References
//! Linux kernel/sched/membarrier.c, which looks at the flags first of all; membarrier(2).
//!
//! # Safety
//! 1. The arguments are numbers, and no command of this file writes memory of ours.
#![expect(unsafe_code, reason = "membarrier has no wrapper in libc")]

#[cfg(not(loom))]
const EXPEDITED: i32 = 1 << 3; // PRIVATE_EXPEDITED, include/uapi/linux/membarrier.h
#[cfg(not(loom))]
const REGISTER_EXPEDITED: i32 = 1 << 4; // REGISTER_PRIVATE_EXPEDITED, same place
const UNKNOWN_FLAG: i32 = 1 << 30; // MEMBARRIER_CMD_FLAG_CPU, 1 << 0, is the only one there

/// The barrier alone. `false`: the kernel has none (before Linux 4.14), or a filter forbids it or only says that it
/// went well.
#[cfg(not(loom))]
pub(crate) fn barrier() -> bool {
    // The kernel keeps the registration for the address space, so the second try is the first call's alone. Not kept
    // here as well: a forked child may not have inherited it.
    let made = || command(EXPEDITED, 0, 0) == 0;
    super::errno::kept(|| is_made(EXPEDITED) && (made() || (command(REGISTER_EXPEDITED, 0, 0) == 0 && made())))
}

#[cfg(any(target_arch = "x86_64", all(feature = "std", any(target_env = "gnu", not(loom)))))]
pub(crate) use cores::{register_sync_core, sync_core};

#[cfg(any(target_arch = "x86_64", all(feature = "std", any(target_env = "gnu", not(loom)))))]
mod cores {
    //! The barrier after which no CPU executes text that it has fetched before.

    use super::{NOT_MADE, command, is_made};
    use crate::error::Refusal;
    use crate::sys::failed;

    const SYNC_CORE: i32 = 1 << 5; // PRIVATE_EXPEDITED_SYNC_CORE, include/uapi/linux/membarrier.h
    const REGISTER_SYNC_CORE: i32 = 1 << 6; // REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, same place

    /// Announces that [`sync_core`] will be called. The kernel keeps this for the address space until exec.
    ///
    /// # Errors
    /// ENOSYS before Linux 4.16, EPERM and others from a seccomp filter; ENOSYS too under one that says that it went well.
    pub(crate) fn register_sync_core() -> Result<(), Refusal> {
        if !is_made(SYNC_CORE) {
            return Err(NOT_MADE);
        }
        match command(REGISTER_SYNC_CORE, 0, 0) {
            0 => Ok(()),
            _ => Err(failed("membarrier REGISTER_PRIVATE_EXPEDITED_SYNC_CORE")),
        }
    }

    /// Makes every CPU that runs this process, the caller's included, forget what it has fetched of the old text.
    ///
    /// # Errors
    /// EPERM where [`register_sync_core`] was not called; as there where a filter has been installed since.
    pub(crate) fn sync_core() -> Result<(), Refusal> {
        if !is_made(SYNC_CORE) {
            return Err(NOT_MADE);
        }
        match command(SYNC_CORE, 0, 0) {
            0 => Ok(()),
            _ => Err(failed("membarrier PRIVATE_EXPEDITED_SYNC_CORE")),
        }
    }
}

#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom)))]
pub(crate) use sequences::rseq;

#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"), not(loom)))]
mod sequences {
    //! The barrier that ends restartable sequences.

    use super::{NOT_MADE, command, is_made};
    use crate::error::Refusal;
    use crate::sys::failed;

    const RSEQ: i32 = 1 << 7; // PRIVATE_EXPEDITED_RSEQ, include/uapi/linux/membarrier.h
    const REGISTER_RSEQ: i32 = 1 << 8; // REGISTER_PRIVATE_EXPEDITED_RSEQ, same place
    const CMD_FLAG_CPU: i32 = 1 << 0; // MEMBARRIER_CMD_FLAG_CPU, same place

    /// Aborts the restartable sequences of this process that run on `cpu`, or on every CPU, and is a full barrier there.
    ///
    /// The first call of the process registers, which is when it is needed; the kernel keeps that for the address space.
    ///
    /// # Errors
    /// EINVAL before Linux 5.10, ENOSYS and EPERM from a filter; ENOSYS too under one that says that it went well.
    pub(crate) fn rseq(cpu: Option<u32>) -> Result<(), Refusal> {
        if !is_made(RSEQ) {
            return Err(NOT_MADE);
        }
        let (flags, cpu) = cpu.map_or((0, 0), |cpu| (CMD_FLAG_CPU, cpu as i32));
        if command(RSEQ, flags, cpu) == 0 {
            return Ok(());
        }
        // EPERM: not registered yet, or not in this child of fork.
        if command(REGISTER_RSEQ, 0, 0) != 0 {
            return Err(failed("membarrier REGISTER_PRIVATE_EXPEDITED_RSEQ"));
        }
        match command(RSEQ, flags, cpu) {
            0 => Ok(()),
            _ => Err(failed("membarrier PRIVATE_EXPEDITED_RSEQ")),
        }
    }
}

/// What is said where the call does not reach the kernel.
#[cfg(any(target_arch = "x86_64", all(feature = "std", any(target_env = "gnu", not(loom)))))]
const NOT_MADE: crate::error::Refusal = crate::error::Refusal::System {
    call: "membarrier, of which a filter only says that it went well,",
    errno: libc::ENOSYS,
};

/// Whether this command of this thread's reaches the kernel, or is refused on the way: with a flag that no kernel knows
/// it fails then.
fn is_made(command: i32) -> bool {
    self::command(command, UNKNOWN_FLAG, 0) != 0
}

fn command(command: i32, flags: i32, cpu: i32) -> libc::c_long {
    // SAFETY: three numbers, and nothing of ours is written (Invariant 1).
    unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu) }
}
