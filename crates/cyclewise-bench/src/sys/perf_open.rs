//! perf_event_open(2), and the attribute that it takes.
//!
//! # References
//! perf_event_open(2); include/uapi/linux/perf_event.h. libc has no type for the attribute, so the fields are laid out here, up to
//! PERF_ATTR_SIZE_VER1, which every kernel since 2.6.33 accepts.
//!
//! # Safety
//! 1. The kernel reads one attribute of the size that it states.
#![expect(unsafe_code, reason = "perf_event_open")]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};

pub(super) const TYPE_HARDWARE: u32 = 0;
pub(super) const TYPE_SOFTWARE: u32 = 1;
pub(super) const HW_CPU_CYCLES: u64 = 0;
pub(super) const HW_INSTRUCTIONS: u64 = 1;
pub(super) const SW_TASK_CLOCK: u64 = 1;

pub(super) const FORMAT_ENABLED: u64 = 1 << 0;
pub(super) const FORMAT_RUNNING: u64 = 1 << 1;
pub(super) const FORMAT_ID: u64 = 1 << 2;
pub(super) const FORMAT_GROUP: u64 = 1 << 3;

pub(super) mod flag {
    pub(in crate::sys) const DISABLED: u64 = 1 << 0;
    pub(in crate::sys) const INHERIT: u64 = 1 << 1;
    pub(in crate::sys) const PINNED: u64 = 1 << 2;
    pub(in crate::sys) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(in crate::sys) const EXCLUDE_HV: u64 = 1 << 6;
    pub(in crate::sys) const MMAP: u64 = 1 << 8;
    pub(in crate::sys) const COMM: u64 = 1 << 9;
    pub(in crate::sys) const FREQ: u64 = 1 << 10;
    pub(in crate::sys) const INHERIT_STAT: u64 = 1 << 11;
    pub(in crate::sys) const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub(in crate::sys) const TASK: u64 = 1 << 13;
    pub(in crate::sys) const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub(in crate::sys) const MMAP2: u64 = 1 << 23;
    pub(in crate::sys) const COMM_EXEC: u64 = 1 << 24;
    pub(in crate::sys) const BUILD_ID: u64 = 1 << 34;

    /// `precise_ip`: how much the address of a sample may be late.
    pub(in crate::sys) const fn precise(level: u8) -> u64 {
        ((level & 3) as u64) << 15
    }
}

const CLOEXEC: libc::c_ulong = 1 << 3;

/// `perf_event_attr` up to PERF_ATTR_SIZE_VER1.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Attribute {
    pub(super) kind: u32,
    size: u32,
    pub(super) config: u64,
    pub(super) period_or_rate: u64,
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    pub(super) flags: u64,
    wakeup: u32,
    breakpoint_type: u32,
    config1: u64,
    pub(super) config2: u64,
}

impl Attribute {
    /// An event that counts.
    pub(super) fn new(kind: u32, config: u64) -> Self {
        Self {
            kind,
            size: size_of::<Self>() as u32,
            config,
            period_or_rate: 0,
            sample_type: 0,
            read_format: 0,
            flags: 0,
            wakeup: 0,
            breakpoint_type: 0,
            config1: 0,
            config2: 0,
        }
    }
}

/// Opens an event of the calling thread: on any CPU or while it runs on `cpu`, alone or in the group of `leader`.
///
/// # Errors
/// ENOENT, ENODEV or EOPNOTSUPP without such a PMU; EACCES or EPERM where it is forbidden; EINVAL for what the PMU does not take;
/// EMFILE at the limit of descriptors; EBUSY where another user has the PMU to itself.
pub(super) fn open(attribute: &Attribute, cpu: Option<u32>, leader: Option<BorrowedFd<'_>>) -> io::Result<File> {
    let cpu = cpu.map_or(-1, |cpu| cpu as i32);
    let group = leader.map_or(-1, |fd| fd.as_raw_fd());
    let attribute: *const Attribute = attribute;
    // SAFETY: one attribute of the size it states (Safety 1).
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, attribute, 0, cpu, group, CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor the kernel just gave us.
    Ok(unsafe { File::from_raw_fd(fd as i32) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_has_the_size_of_version_1() {
        assert_eq!(size_of::<Attribute>(), 72);
        assert_eq!(Attribute::new(0, 0).size, 72);
    }

    #[test]
    fn an_event_that_does_not_exist_is_refused() {
        // 60 is no number of a software event.
        let error = open(&Attribute::new(TYPE_SOFTWARE, 60), None, None).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
    }
}
