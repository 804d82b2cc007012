//! membarrier(2): every CPU that runs this process executes a serializing instruction (SYNC_CORE), or restarts its
//! sequences (RSEQ).
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

#[cfg(all(
    feature = "std",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
const RSEQ: i32 = 1 << 7; // PRIVATE_EXPEDITED_RSEQ, same place
#[cfg(all(
    feature = "std",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
const REGISTER_RSEQ: i32 = 1 << 8; // REGISTER_PRIVATE_EXPEDITED_RSEQ, same place
#[cfg(all(
    feature = "std",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
const CMD_FLAG_CPU: i32 = 1 << 0; // MEMBARRIER_CMD_FLAG_CPU, same place

/// Announces that [`sync_core`] will be called. The kernel keeps this for the address space until exec.
///
/// # Errors
/// ENOSYS before Linux 4.16, EPERM and others from a seccomp filter; ENOSYS too under one that says that it went well.
pub(crate) fn register_sync_core() -> Result<(), Refusal> {
    if !is_made() {
        return Err(NOT_MADE);
    }
    call(REGISTER_SYNC_CORE, "membarrier REGISTER_PRIVATE_EXPEDITED_SYNC_CORE")
}

/// Makes every CPU that runs this process, the caller's included, forget what it has fetched of the old text.
///
/// # Errors
/// EPERM where [`register_sync_core`] was not called.
pub(crate) fn sync_core() -> Result<(), Refusal> {
    call(SYNC_CORE, "membarrier PRIVATE_EXPEDITED_SYNC_CORE")
}

/// Aborts the restartable sequences of this process that run on `cpu`, or on every CPU, and is a full barrier there.
///
/// The first call of the process registers, which is when it is needed; the kernel keeps that for the address space.
///
/// # Errors
/// EINVAL before Linux 5.10, ENOSYS and EPERM from a filter; ENOSYS too under one that says that it went well.
#[cfg(all(
    feature = "std",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom))
))]
pub(crate) fn rseq(cpu: Option<u32>) -> Result<(), Refusal> {
    if !is_made() {
        return Err(NOT_MADE);
    }
    let (flags, cpu) = cpu.map_or((0, 0), |cpu| (CMD_FLAG_CPU, cpu as i32));
    if command(RSEQ, flags, cpu) == 0 {
        return Ok(());
    }
    // EPERM: not registered yet, or not in this child of fork.
    call(REGISTER_RSEQ, "membarrier REGISTER_PRIVATE_EXPEDITED_RSEQ")?;
    match command(RSEQ, flags, cpu) {
        0 => Ok(()),
        _ => Err(failed("membarrier PRIVATE_EXPEDITED_RSEQ")),
    }
}

/// What is said where the call does not reach the kernel.
const NOT_MADE: Refusal = Refusal::System {
    call: "membarrier, of which a filter only says that it went well,",
    errno: libc::ENOSYS,
};

/// Whether the call reaches the kernel: then an unknown command fails. Asked once.
fn is_made() -> bool {
    use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
    const UNKNOWN: i32 = 1 << 30; // not a command of include/uapi/linux/membarrier.h
    const YES: u8 = 1; // it failed
    const NO: u8 = 2; // it went well, so nobody has looked at it
    static ANSWER: AtomicU8 = AtomicU8::new(0);
    // Relaxed, here and below: an answer that is the same whoever asks.
    if ANSWER.load(Relaxed) == 0 {
        let failed = command(UNKNOWN, 0, 0) != 0;
        ANSWER.store(if failed { YES } else { NO }, Relaxed);
    }
    ANSWER.load(Relaxed) == YES
}

fn call(command: i32, name: &'static str) -> Result<(), Refusal> {
    match self::command(command, 0, 0) {
        0 => Ok(()),
        _ => Err(failed(name)),
    }
}

fn command(command: i32, flags: i32, cpu: i32) -> libc::c_long {
    // SAFETY: Invariant 1.
    unsafe { libc::syscall(libc::SYS_membarrier, command, flags, cpu) }
}
