//! The kernel's clocks, in nanoseconds, by way of the vDSO.
//!
//! # Safety
//! 1. The kernel writes one `timespec`, which is ours.
#![expect(unsafe_code, reason = "clock_gettime")]

use core::mem::MaybeUninit;

/// Zero where there is no such clock.
#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut now = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: Invariant 1. Async-signal-safe (POSIX.1-2008, 2.4.3).
    unsafe { libc::clock_gettime(clock, now.as_mut_ptr()) };
    // SAFETY: all zeroes is valid, and else the kernel filled it.
    let now = unsafe { now.assume_init() };
    (now.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(now.tv_nsec as u64)
}

/// CLOCK_MONOTONIC: slewed by NTP, never stepped; stands still in suspend.
#[inline]
pub(crate) fn monotonic_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// CLOCK_MONOTONIC_RAW: as the hardware counts. Where there is none, CLOCK_MONOTONIC.
pub(crate) fn raw_ns() -> u64 {
    #[cfg(target_os = "linux")]
    return read(libc::CLOCK_MONOTONIC_RAW);
    #[cfg(not(target_os = "linux"))]
    return monotonic_ns();
}

/// CLOCK_BOOTTIME: CLOCK_MONOTONIC and the time spent in suspend.
pub(crate) fn boottime_ns() -> u64 {
    #[cfg(target_os = "linux")]
    return read(libc::CLOCK_BOOTTIME);
    #[cfg(not(target_os = "linux"))]
    return monotonic_ns();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clock_goes_forward() {
        for clock in [monotonic_ns, raw_ns, boottime_ns] {
            let first = clock();
            assert!(first > 0 && clock() >= first);
        }
    }
}
