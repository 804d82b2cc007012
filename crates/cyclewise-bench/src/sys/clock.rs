//! clock_gettime(2): the kernel's clocks, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

#[inline]
fn read(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CLOCK_MONOTONIC_RAW: neither slewed nor stepped.
pub fn monotonic_raw_ns() -> u64 {
    read(ClockId::MonotonicRaw)
}

/// CLOCK_MONOTONIC, read in the vDSO.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// CLOCK_THREAD_CPUTIME_ID: the time this thread has run. With paravirtual time accounting it excludes stolen time.
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime)
}
