//! For tests: a thread's time on a CPU, and the policy by which it gets one.
//!
//! # Safety
//! 1. The kernel reads one `sched_param`, and writes one `timespec`.
#![expect(unsafe_code, reason = "clock_gettime, sched_setscheduler")]

/// The calling thread's time on a CPU, in nanoseconds.
pub(crate) fn cpu_time_ns() -> u64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes one timespec (Invariant 1).
    let rc = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut used) };
    assert_eq!(rc, 0);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}

/// SCHED_FIFO for the calling thread; false where that is not allowed.
pub(crate) fn become_fifo() -> bool {
    // SAFETY: all zeroes is a valid parameter block. Its fields are not the same in every C library.
    let mut parameter: libc::sched_param = unsafe { core::mem::zeroed() };
    parameter.sched_priority = 1;
    // The system call: musl's function only refuses.
    // SAFETY: reads one parameter block (Invariant 1).
    unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const parameter) == 0 }
}
