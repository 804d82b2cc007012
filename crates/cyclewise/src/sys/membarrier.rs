//! membarrier(2): every CPU that runs this process passes a full barrier, executes a serializing instruction too
//! (SYNC_CORE), or restarts its sequences too (RSEQ).
//!
//! # Memory ordering
//! A full barrier on every CPU that runs a thread of this process, the caller's included, between the call and its
//! return; a thread that does not run passes one before it runs again.
//!
//! # A call that is not made
//! A seccomp filter may answer 0, and then nobody has passed a barrier. So each call is made twice, first with a flag that no
//! kernel knows: the kernel refuses it, a filter does not look at it. The answer is not kept, because a filter is a
//! thread's and may be installed at any time. A filter that answers 0 to the flags of this file alone is not noticed.
//!
//! # Errno
//! Nothing here changes it: a flag that no kernel knows would leave EINVAL behind each call.
//!
//! # Cost
//! Two system calls, the first of which returns at once, and an interrupt to each CPU that runs another thread of this
//! process. Registering SYNC_CORE and RSEQ makes later context switches of the process slower, so the first call that needs
//! it registers. Registering again is a short call that changes nothing.
//!
//! # References
//! Linux kernel/sched/membarrier.c, which checks the flags first; membarrier(2).
//!
//! # Safety
//! 1. The arguments are numbers, and no command of this file writes memory of ours.
#![expect(unsafe_code, reason = "membarrier has no wrapper in libc")]

use super::{errno, failed};
use crate::error::Refusal;

const EXPEDITED: i32 = 1 << 3; // PRIVATE_EXPEDITED, include/uapi/linux/membarrier.h
const REGISTER_EXPEDITED: i32 = 1 << 4; // REGISTER_PRIVATE_EXPEDITED, same place
const SYNC_CORE: i32 = 1 << 5; // PRIVATE_EXPEDITED_SYNC_CORE, same place
const REGISTER_SYNC_CORE: i32 = 1 << 6; // REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, same place
const RSEQ: i32 = 1 << 7; // PRIVATE_EXPEDITED_RSEQ, same place
const REGISTER_RSEQ: i32 = 1 << 8; // REGISTER_PRIVATE_EXPEDITED_RSEQ, same place
const FLAG_CPU: i32 = 1 << 0; // MEMBARRIER_CMD_FLAG_CPU, same place
const UNKNOWN_FLAG: i32 = 1 << 30; // FLAG_CPU is the only flag there

/// The barrier alone. False before Linux 4.14, and where a filter refuses the call or answers 0.
pub(crate) fn barrier() -> bool {
    // The kernel keeps the registration for the address space, so only the first call tries twice. It is not kept here as
    // well: a forked child may not have inherited it.
    let made = || command(EXPEDITED, 0, 0) == 0;
    errno::preserve(|| is_made(EXPEDITED) && (made() || (command(REGISTER_EXPEDITED, 0, 0) == 0 && made())))
}

/// Announces that [`sync_core`] will be called. The kernel keeps this for the address space until exec.
///
/// # Errors
/// ENOSYS before Linux 4.16 and under a filter that answers 0; EPERM and others from a filter.
pub(crate) fn register_sync_core() -> Result<(), Refusal> {
    errno::preserve(|| {
        if !is_made(SYNC_CORE) {
            return Err(NOT_MADE);
        }
        match command(REGISTER_SYNC_CORE, 0, 0) {
            0 => Ok(()),
            _ => Err(failed("membarrier REGISTER_PRIVATE_EXPEDITED_SYNC_CORE")),
        }
    })
}

/// Makes every CPU that runs this process, the caller's included, discard what it has fetched of the old text.
///
/// # Errors
/// EPERM without [`register_sync_core`]; the errors of that, where a filter was installed since.
pub(crate) fn sync_core() -> Result<(), Refusal> {
    errno::preserve(|| {
        if !is_made(SYNC_CORE) {
            return Err(NOT_MADE);
        }
        match command(SYNC_CORE, 0, 0) {
            0 => Ok(()),
            _ => Err(failed("membarrier PRIVATE_EXPEDITED_SYNC_CORE")),
        }
    })
}

/// Aborts the restartable sequences of this process that run on `cpu`, or on every CPU, and is a full barrier there.
///
/// The process's first call registers; the kernel keeps that for the address space.
///
/// # Errors
/// EINVAL before Linux 5.10; ENOSYS and EPERM from a filter, ENOSYS too where it answers 0.
pub(crate) fn rseq(cpu: Option<u32>) -> Result<(), Refusal> {
    errno::preserve(|| {
        if !is_made(RSEQ) {
            return Err(RSEQ_NOT_MADE);
        }
        let (flags, cpu) = cpu.map_or((0, 0), |cpu| (FLAG_CPU, cpu as i32));
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
    })
}

/// The call does not reach the kernel.
const NOT_MADE: Refusal = Refusal::System {
    call: "membarrier, which a filter answers with 0,",
    errno: libc::ENOSYS,
};

const RSEQ_NOT_MADE: Refusal = Refusal::System {
    call: "membarrier, which a filter answers with 0 for RSEQ",
    errno: libc::ENOSYS,
};

/// Whether this command of the calling thread's reaches the kernel, or is refused on the way: either fails for a flag that
/// no kernel knows.
fn is_made(command: i32) -> bool {
    self::command(command, UNKNOWN_FLAG, 0) != 0
}

fn command(command: i32, flags: i32, cpu: i32) -> libc::c_long {
    // SAFETY: three numbers, and nothing of ours is written (Invariant 1).
    unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu) }
}
