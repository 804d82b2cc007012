//! The kernel's clocks, in nanoseconds.
//!
//! # Safety
//! The kernel writes one `timespec`, which is ours.
#![expect(unsafe_code, reason = "clock_gettime")]

use std::mem::MaybeUninit;

fn read(clock: libc::clockid_t) -> u64 {
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: writes one timespec. The clocks asked for here exist on every Linux we build for.
    unsafe { libc::clock_gettime(clock, now.as_mut_ptr()) };
    // SAFETY: zeroed is valid, and the kernel filled it.
    let now = unsafe { now.assume_init() };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CLOCK_MONOTONIC_RAW: neither slewed nor stepped.
pub fn monotonic_raw_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// CLOCK_MONOTONIC, by way of the vDSO.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_THREAD_CPUTIME_ID: time this thread has run. Where the kernel knows of it, stolen time is left out.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}
