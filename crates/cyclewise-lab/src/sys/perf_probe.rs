//! perf_event_open(2): whether this process may count its own core cycles, and if not, why.
//!
//! # Safety
//! The attribute block lives until the call returns and says its own size; the descriptor is owned from then on.
#![expect(unsafe_code, reason = "perf_event_open has no wrapper in libc")]

use super::errno::Errno;
use std::fs::File;
use std::hint::black_box;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};

/// PERF_TYPE_HARDWARE and PERF_COUNT_HW_CPU_CYCLES (include/uapi/linux/perf_event.h).
const HARDWARE_CPU_CYCLES: (u32, u64) = (0, 0);
/// `exclude_kernel` and `exclude_hv` of the flag word.
const EXCLUDE_KERNEL_AND_HYPERVISOR: u64 = 1 << 5 | 1 << 6;
/// PERF_FLAG_FD_CLOEXEC.
const CLOEXEC: libc::c_ulong = 1 << 3;
/// Additions that the counter must see; a PMU that counts cannot stay at 0 through them.
const WORK: u64 = 100_000;

/// PERF_ATTR_SIZE_VER0 of `struct perf_event_attr`: every kernel takes it.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    bp_addr: u64,
}

/// Opens a cycle counter on this thread, user mode only, and returns what it counted over a short loop.
///
/// A count of 0 is a counter that opens and does not count, which some hypervisors give.
///
/// # Errors
/// What perf_event_open said; [`meaning`] explains it.
pub fn probe() -> Result<u64, Errno> {
    let (kind, config) = HARDWARE_CPU_CYCLES;
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: 0,
        flags: EXCLUDE_KERNEL_AND_HYPERVISOR,
        wakeup_events: 0,
        bp_type: 0,
        bp_addr: 0,
    };
    // SAFETY: the block says its size and outlives the call; pid 0 with CPU -1 is this thread on any CPU.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOEXEC) };
    if fd < 0 {
        return Err(Errno::last());
    }
    // SAFETY: the descriptor is fresh, and nobody else knows it.
    let counter = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    for i in 0..WORK {
        black_box(i);
    }
    let mut count = [0; 8];
    File::from(counter).read_exact(&mut count).map_err(|e| Errno::of(&e))?;
    Ok(u64::from_ne_bytes(count))
}

/// What an error of perf_event_open means for a hardware event, and what a user can do.
pub fn meaning(errno: Errno) -> &'static str {
    match errno.0 {
        libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO => {
            "no hardware PMU behind the event: a VM without a virtual PMU, or a CPU the kernel does not know"
        }
        libc::EACCES | libc::EPERM => {
            "not permitted: set kernel.perf_event_paranoid to 2 or less, give CAP_PERFMON, or let the container's filter pass it"
        }
        libc::ENOSYS => "the kernel was built without perf events, or a filter hides the call",
        libc::EBUSY => "somebody else holds the PMU exclusively",
        libc::EMFILE => "too many descriptors are open: raise `ulimit -n`",
        libc::EINVAL => "the kernel does not take this event",
        _ => "not a known refusal of perf_event_open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_has_the_size_the_kernel_calls_version_0() {
        assert_eq!(size_of::<Attributes>(), 64);
    }

    #[test]
    fn a_probe_counts_or_says_why_not() {
        match probe() {
            Ok(cycles) => eprintln!("counted {cycles} cycles"),
            Err(errno) => eprintln!("skipped: perf_event_open gave {errno}: {}", meaning(errno)),
        }
    }

    #[test]
    fn refusals_are_told_apart() {
        assert!(meaning(Errno(libc::ENOENT)).contains("no hardware PMU"));
        assert!(meaning(Errno(libc::EACCES)).contains("paranoid"));
        assert_ne!(meaning(Errno(libc::ENOSYS)), meaning(Errno(libc::EBUSY)));
    }
}
