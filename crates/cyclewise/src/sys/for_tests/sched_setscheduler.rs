//! sched_setscheduler(2), for tests.
//!
//! # Safety
//! 1. The kernel reads one `sched_param`.
#![expect(unsafe_code, reason = "sched_setscheduler")]

/// SCHED_FIFO for the calling thread; false where that is not allowed.
pub(crate) fn become_fifo() -> bool {
    // SAFETY: all zeroes is a valid parameter block. Its fields are not the same in every C library.
    let mut parameter: libc::sched_param = unsafe { core::mem::zeroed() };
    parameter.sched_priority = 1;
    // By number: musl's function only refuses.
    // SAFETY: reads one parameter block (Invariant 1).
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const parameter) == 0 }
}
