//! membarrier(2), private and expedited: every CPU that runs this process passes a full barrier.
//!
//! # Memory ordering
//! A full barrier on every CPU that runs a thread of this process, the caller's included, between the call and its
//! return; a thread that does not run passes one before it runs again.
//!
//! # References
//! Linux kernel/sched/membarrier.c; membarrier(2).
//!
//! # Safety
//! 1. The arguments are numbers, and neither command writes memory of ours.
#![expect(unsafe_code, reason = "membarrier has no wrapper in libc")]

const PRIVATE_EXPEDITED: i32 = 1 << 3; // include/uapi/linux/membarrier.h
const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4; // same place

/// The barrier. `false`: the kernel has none (before Linux 4.14), or a filter forbids it.
pub(crate) fn everywhere() -> bool {
    // The kernel keeps the registration for the address space, so the second try is the first call's alone. Not kept
    // here as well: a forked child may not have inherited it.
    call(PRIVATE_EXPEDITED) || (call(REGISTER_PRIVATE_EXPEDITED) && call(PRIVATE_EXPEDITED))
}

fn call(command: i32) -> bool {
    // SAFETY: Invariant 1.
    (unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }) == 0
}
