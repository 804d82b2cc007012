//! The kernel's clocks, in nanoseconds, through the vDSO.
//!
//! # Safety
//! 1. The kernel writes one `timespec`, which is ours.
#![expect(unsafe_code, reason = "clock_gettime")]

use super::errno;
use core::mem::MaybeUninit;

/// 0 where the clock does not exist or is refused.
#[inline]
pub(super) fn read(clock: libc::clockid_t) -> u64 {
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

/// The same; `None` where it is refused. Preserves errno.
pub(crate) fn known_monotonic_ns() -> Option<u64> {
    known(libc::CLOCK_MONOTONIC)
}

#[inline]
pub(super) fn known(clock: libc::clockid_t) -> Option<u64> {
    Some(errno::preserve(|| read(clock))).filter(|&ns| ns != 0)
}

/// CLOCK_MONOTONIC_RAW: the hardware's rate, which NTP does not slew.
pub(crate) fn raw_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC_RAW)
}

/// CLOCK_BOOTTIME: CLOCK_MONOTONIC and the time spent in suspend.
pub(crate) fn boottime_ns() -> u64 {
    read(libc::CLOCK_BOOTTIME)
}

/// CLOCK_REALTIME: since 1970; set by whoever may, and slewed as CLOCK_MONOTONIC is. `None` where it is refused. Preserves
/// errno.
pub(crate) fn known_realtime_ns() -> Option<u64> {
    known(libc::CLOCK_REALTIME)
}
