//! membarrier(2) with SYNC_CORE: every CPU that runs this process executes a serializing instruction.
//!
//! # Memory ordering
//! A full barrier on every CPU that runs a thread of this process, the caller's included, between the call and its
//! return; a thread that does not run passes one before it runs again.
//!
//! # Cost
//! Registering makes later context switches of the process dearer, so it is done by the first change of text that
//! needs it. Registering again is a short call that changes nothing.
//!
//! # References
//! Linux kernel/sched/membarrier.c; membarrier(2).
//!
//! # Safety
//! 1. The arguments are numbers, and neither command writes memory of ours.
#![expect(unsafe_code, reason = "membarrier has no wrapper in libc")]

use super::failed;
use crate::error::Refusal;

const SYNC_CORE: i32 = 1 << 5; // PRIVATE_EXPEDITED_SYNC_CORE, include/uapi/linux/membarrier.h
const REGISTER_SYNC_CORE: i32 = 1 << 6; // REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, same place

/// Announces that [`sync_core`] will be called. The kernel keeps this for the address space until exec.
///
/// # Errors
/// ENOSYS before Linux 4.16, EPERM and others from a seccomp filter.
pub(crate) fn register_sync_core() -> Result<(), Refusal> {
    call(REGISTER_SYNC_CORE, "membarrier REGISTER_PRIVATE_EXPEDITED_SYNC_CORE")
}

/// Makes every CPU that runs this process, the caller's included, forget what it has fetched of the old text.
///
/// # Errors
/// EPERM where [`register_sync_core`] was not called.
pub(crate) fn sync_core() -> Result<(), Refusal> {
    call(SYNC_CORE, "membarrier PRIVATE_EXPEDITED_SYNC_CORE")
}

fn call(command: i32, name: &'static str) -> Result<(), Refusal> {
    // SAFETY: Invariant 1.
    match unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } {
        0 => Ok(()),
        _ => Err(failed(name)),
    }
}
