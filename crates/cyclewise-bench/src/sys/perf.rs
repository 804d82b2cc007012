//! Core cycles and instructions of the calling thread, from the PMU through perf_event_open.
//!
//! Both counters are in one group, pinned to the PMU: either they count all the time or the kernel says they do not.
//! User mode only, so that a system call's own path and interrupts stay out.

use super::perf_open::{
    Attribute, FORMAT_ENABLED, FORMAT_GROUP, FORMAT_RUNNING, HW_CPU_CYCLES, HW_INSTRUCTIONS, TYPE_HARDWARE, flag, open,
};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

/// Iterations after which a working counter must have moved.
const WORK: u64 = 100_000;

/// Two counters that count together.
pub struct Group {
    leader: File,
    _second: File,
}

/// One reading of a [`Group`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The first counter.
    pub cycles: u64,
    /// The second.
    pub instructions: u64,
}

impl Group {
    /// Core cycles and instructions, for the calling thread.
    ///
    /// # Errors
    /// What perf_event_open returns: ENOENT without a PMU, EACCES or EPERM where perf_event_paranoid or a seccomp filter
    /// forbids it. Also where a counter opens but does not count, as on some hypervisors.
    pub fn core() -> io::Result<Self> {
        Self::open(TYPE_HARDWARE, [HW_CPU_CYCLES, HW_INSTRUCTIONS])?.if_counting()
    }

    fn if_counting(self) -> io::Result<Self> {
        match self.over_some_work()? {
            Reading { cycles: 0, .. } => Err(io::Error::other("the cycle counter opens, but stands still")),
            Reading { instructions: 0, .. } => Err(io::Error::other("the instruction counter opens, but stands still")),
            _ => Ok(self),
        }
    }

    /// The counts over a short loop, which may be zero.
    pub fn probe() -> io::Result<Reading> {
        Self::open(TYPE_HARDWARE, [HW_CPU_CYCLES, HW_INSTRUCTIONS])?.over_some_work()
    }

    fn over_some_work(&self) -> io::Result<Reading> {
        let before = self.read()?;
        (0..WORK).for_each(|i| {
            std::hint::black_box(i);
        });
        let after = self.read()?;
        Ok(Reading {
            cycles: after.cycles - before.cycles,
            instructions: after.instructions - before.instructions,
        })
    }

    fn open(kind: u32, configs: [u64; 2]) -> io::Result<Self> {
        let leader = member(kind, configs[0], None)?;
        let second = member(kind, configs[1], Some(&leader))?;
        let group = Self {
            leader,
            _second: second,
        };
        group.read().map(|_| group)
    }

    /// Reads both.
    ///
    /// # Errors
    /// Where the counters did not run all the time: another user holds the PMU.
    pub fn read(&self) -> io::Result<Reading> {
        let mut buffer = [0u8; 40];
        let n = (&self.leader).read(&mut buffer)?;
        let word = |i: usize| u64::from_ne_bytes(buffer[8 * i..8 * i + 8].try_into().unwrap_or_default());
        if n < buffer.len() {
            return Err(io::Error::other(
                "the pinned counters are in error state: another user holds the PMU",
            ));
        }
        let (count, enabled, running) = (word(0), word(1), word(2));
        if count != 2 || running == 0 || running < enabled {
            return Err(io::Error::other(format!(
                "the counters ran {running} of {enabled} ns: the PMU is shared or absent"
            )));
        }
        Ok(Reading {
            cycles: word(3),
            instructions: word(4),
        })
    }
}

fn member(kind: u32, config: u64, leader: Option<&File>) -> io::Result<File> {
    let mut attribute = Attribute::new(kind, config);
    attribute.read_format = FORMAT_GROUP | FORMAT_ENABLED | FORMAT_RUNNING;
    // Only a leader may be pinned.
    let pinned = if leader.is_none() { flag::PINNED } else { 0 };
    attribute.flags = flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV | pinned;
    open(&attribute, None, leader.map(AsFd::as_fd))
}

#[cfg(test)]
mod tests {
    use super::super::perf_open::{SW_TASK_CLOCK, TYPE_SOFTWARE};
    use super::*;

    #[test]
    fn a_group_of_software_events_counts_through_the_same_path() {
        let group = match Group::open(TYPE_SOFTWARE, [SW_TASK_CLOCK, SW_TASK_CLOCK]) {
            Ok(group) => group,
            Err(e) => return println!("skipped: perf_event_open: {e}"),
        };
        let before = group.read().unwrap();
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 2 {}
        let after = group.read().unwrap();
        assert!(
            after.cycles > before.cycles,
            "the leader stood still: {before:?} {after:?}"
        );
        assert!(
            after.instructions > before.instructions,
            "the second stood still: {before:?} {after:?}"
        );
    }

    #[test]
    fn a_counter_that_stands_still_is_not_offered() {
        const SW_ALIGNMENT_FAULTS: u64 = 7; // None on these architectures.
        match Group::open(TYPE_SOFTWARE, [SW_TASK_CLOCK, SW_ALIGNMENT_FAULTS]) {
            Ok(group) => {
                let refused = group.if_counting().err().expect("a counter of nothing was offered");
                assert_says!(refused.to_string(), "stands still");
            }
            Err(e) => println!("skipped: perf_event_open: {e}"),
        }
        // The twin: a counter that counts is offered.
        if let Ok(group) = Group::open(TYPE_SOFTWARE, [SW_TASK_CLOCK, SW_TASK_CLOCK]) {
            assert!(group.if_counting().is_ok());
        }
    }

    #[test]
    fn without_a_pmu_the_error_says_so() {
        match Group::core() {
            Ok(group) => {
                let before = group.read().unwrap();
                let after = group.read().unwrap();
                assert!(
                    after.cycles > before.cycles,
                    "a counter that counts nothing must not be offered"
                );
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
}
