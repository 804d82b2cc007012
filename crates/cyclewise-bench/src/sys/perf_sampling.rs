//! Events of the calling thread on one CPU, which the program that it executes next inherits, with all threads and children.
//!
//! An event begins when the program is executed: what runs between the fork and that is not counted. An inherited event has a ring only
//! if it is of one CPU, so a run has these events on every CPU.
//!
//! # References
//! perf_event_open(2): `inherit`, `inherit_stat`, `enable_on_exec`.

use super::ioctl::{self, Request};
use super::perf_open::{
    Attribute, FORMAT_ENABLED, FORMAT_ID, FORMAT_RUNNING, HW_INSTRUCTIONS, SW_TASK_CLOCK, TYPE_HARDWARE, TYPE_SOFTWARE,
    flag, open,
};
use super::perf_record::{RAW, SAMPLE_TYPE};
use super::perf_ring::Ring;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The PMU, by the number in its `type`.
    pub pmu: u32,
    pub config: u64,
    pub config2: u64,
    pub rate: Rate,
    /// 0 to 3: from any skid to none.
    pub precise: u8,
    /// Samples have the hardware's own words.
    pub raw: bool,
    /// Only user mode, by the PMU itself.
    pub user_only: bool,
}

/// How often an event is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Never: it counts.
    Count,
    /// The kernel adapts the period to so many samples a second of a thread's time.
    PerSecond(u64),
    /// Each time after so many events.
    Every(u64),
}

impl Spec {
    /// An event of `pmu` that counts in user mode.
    pub fn count(pmu: u32, config: u64) -> Self {
        Self {
            pmu,
            config,
            config2: 0,
            rate: Rate::Count,
            precise: 0,
            raw: false,
            user_only: true,
        }
    }

    pub fn instructions() -> Self {
        Self::count(TYPE_HARDWARE, HW_INSTRUCTIONS)
    }

    /// Nanoseconds on a CPU, which need no PMU. In the kernel too: only its samples are of user mode, and so anyone may open it.
    pub fn task_clock() -> Self {
        Self::count(TYPE_SOFTWARE, SW_TASK_CLOCK)
    }

    fn attribute(&self) -> Attribute {
        let mut attribute = Attribute::new(self.pmu, self.config);
        attribute.config2 = self.config2;
        attribute.read_format = FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID;
        attribute.sample_type = SAMPLE_TYPE | if self.raw { RAW } else { 0 };
        attribute.flags = flag::DISABLED | flag::SAMPLE_ID_ALL | flag::precise(self.precise);
        if self.user_only {
            attribute.flags |= flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
        }
        match self.rate {
            Rate::Count => {}
            Rate::PerSecond(rate) => {
                attribute.period_or_rate = rate;
                attribute.flags |= flag::FREQ;
            }
            Rate::Every(period) => attribute.period_or_rate = period,
        }
        attribute
    }
}

/// A count, and for how long the event counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    pub value: u64,
    /// Nanoseconds for which it was enabled.
    pub enabled_ns: u64,
    /// Nanoseconds for which it had a counter.
    pub running_ns: u64,
}

pub struct Event {
    file: File,
    id: u64,
}

impl Event {
    /// Opens `spec` for what the calling thread executes next, on `cpu`. With `tasks`, its ring also has who forked, executed, mapped
    /// and ended.
    pub fn of_next_program(spec: &Spec, cpu: u32, tasks: bool) -> io::Result<Self> {
        let mut attribute = spec.attribute();
        attribute.flags |= flag::INHERIT | flag::INHERIT_STAT | flag::ENABLE_ON_EXEC;
        if !tasks {
            return Self::from_file(open(&attribute, Some(cpu), None)?);
        }
        attribute.flags |= flag::MMAP | flag::MMAP2 | flag::COMM | flag::COMM_EXEC | flag::TASK;
        let mut with_build_ids = attribute;
        with_build_ids.flags |= flag::BUILD_ID;
        let file = match open(&with_build_ids, Some(cpu), None) {
            // Linux before 5.12 refuses the flag; what else it may refuse, it refuses again.
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => open(&attribute, Some(cpu), None)?,
            opened => opened?,
        };
        Self::from_file(file)
    }

    /// Opens `spec` for the calling thread itself, on any CPU, or with a ring on `cpu`.
    pub fn of_this_thread(spec: &Spec, cpu: Option<u32>) -> io::Result<Self> {
        Self::from_file(open(&spec.attribute(), cpu, None)?)
    }

    fn from_file(file: File) -> io::Result<Self> {
        let (_, id) = read(&file)?;
        Ok(Self { file, id })
    }

    /// The number by which records name it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The count of all that inherited it.
    pub fn total(&self) -> io::Result<Total> {
        read(&self.file).map(|(total, _)| total)
    }

    /// Starts it.
    pub fn enable(&self) -> io::Result<()> {
        ioctl::number(self.file.as_fd(), Request::PERF_ENABLE, 0).map(drop)
    }

    /// Stops it, in all that inherited it.
    pub fn disable(&self) -> io::Result<()> {
        ioctl::number(self.file.as_fd(), Request::PERF_DISABLE, 0).map(drop)
    }

    /// A ring for its records, of `pages` pages.
    ///
    /// # Errors
    /// EPERM above `perf_event_mlock_kb`, ENOMEM.
    pub fn ring(&self, pages: usize) -> io::Result<Ring> {
        Ring::new(&self.file, pages)
    }

    /// Writes its records into the ring of `other`, an event on the same CPU.
    ///
    /// # Errors
    /// EINVAL on another CPU, or where `other` has no ring.
    pub fn write_into(&self, other: &Self) -> io::Result<()> {
        let target = other.file.as_raw_fd() as std::ffi::c_ulong;
        ioctl::number(self.file.as_fd(), Request::PERF_SET_OUTPUT, target).map(drop)
    }
}

fn read(mut file: &File) -> io::Result<(Total, u64)> {
    let mut buffer = [0u8; 32];
    if file.read(&mut buffer)? < buffer.len() {
        return Err(io::Error::other(
            "the event is in error state: another user holds the PMU",
        ));
    }
    let word = |i: usize| u64::from_ne_bytes(buffer[8 * i..8 * i + 8].try_into().unwrap_or_default());
    let total = Total {
        value: word(0),
        enabled_ns: word(1),
        running_ns: word(2),
    };
    Ok((total, word(3)))
}

#[cfg(test)]
mod tests {
    use super::super::perf_record::{Record, parse};
    use super::*;
    use crate::sys::affinity;

    #[test]
    fn a_software_event_samples_the_calling_thread_through_a_ring() {
        std::thread::spawn(|| {
            let cpu = affinity::allowed().unwrap()[0];
            affinity::confine(&[cpu]).unwrap();
            let spec = Spec {
                rate: Rate::Every(100_000),
                ..Spec::task_clock()
            };
            let event = match Event::of_this_thread(&spec, Some(cpu)) {
                Ok(event) => event,
                Err(e) => return println!("skipped: perf_event_open: {e}"),
            };
            let mut ring = event.ring(4).unwrap();
            event.enable().unwrap();
            // Until it has had as much of the CPU, however many others have it too.
            while event.total().unwrap().value < 20_000_000 {}
            event.disable().unwrap();
            let mut bytes = Vec::new();
            ring.drain(&mut bytes);
            let records = parse(&bytes);
            let samples: Vec<_> = records
                .iter()
                .filter_map(|r| match &r.record {
                    Record::Sample(s) => Some(s),
                    _ => None,
                })
                .collect();
            assert!(samples.len() > 10, "{records:?}");
            assert!(
                samples
                    .iter()
                    .all(|s| s.event == event.id() && s.task.pid == std::process::id() && s.period > 0),
                "{samples:?}"
            );
            // What was read is not read again.
            bytes.clear();
            ring.drain(&mut bytes);
            assert!(bytes.is_empty());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_ring_that_is_no_power_of_two_is_refused() {
        let cpu = affinity::current_cpu();
        match Event::of_this_thread(&Spec::task_clock(), Some(cpu)) {
            Ok(event) => assert_eq!(event.ring(3).err().unwrap().raw_os_error(), Some(libc::EINVAL)),
            Err(e) => println!("skipped: perf_event_open: {e}"),
        }
    }
}
