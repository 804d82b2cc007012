//! Which events of this machine's PMUs see locked instructions, and whether they do: each is tried on a known loop.
//!
//! # Invariants
//! 1. What [`survey`] offers has counted, or sampled, a loop of known locked instructions on this machine. A table of models says only
//!    what is tried, so a wrong line in it makes an event unavailable and never wrong.
//!
//! Seen on no hardware PMU by us: our machines are guests without one. The choice is tested on made-up trees of /sys, the way from an
//! event to counts on the kernel's task clock.

mod candidates;
mod probe;

pub use candidates::candidates;
pub use probe::locked_loop;

use super::cpuinfo::CpuInfo;
use crate::sys::errno::Errno;
use crate::sys::perf_probe;
use crate::sys::perf_sampling::Spec;
use crate::sys::procfs::Sysfs;
use std::fmt;

/// An event that sees locked instructions.
#[derive(Clone, Debug, PartialEq)]
pub struct LockEvent {
    /// The PMU's name, and the event's in the processor's manual.
    pub name: String,
    pub sampled: Spec,
    pub kind: SampleMeaning,
    pub exercise: Exercise,
    /// What counts locked instructions where that is another event; none where the sampled one's own count is it.
    pub total: Option<Spec>,
    /// Retired instructions on the same CPUs.
    pub instructions: Spec,
    pub cpus: Option<Vec<u32>>,
}

impl LockEvent {
    /// Whether the sampled event's own count is that of locked instructions.
    pub fn counts_itself(&self) -> bool {
        self.kind != SampleMeaning::Ops
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleMeaning {
    /// Each counted event is one locked instruction.
    Instructions,
    /// Each counted event is one executed store-exclusive or atomic, speculative ones included.
    Speculative,
    /// Each counted event is any op; the sample says whether it is part of a locked instruction.
    Ops,
}

/// Locked instructions to try an event on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exercise {
    Add,
    /// Compare and exchange, which AArch64 counts apart.
    CompareExchange,
}

/// A candidate, and what came of trying it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub event: LockEvent,
    /// What was seen, or why it is not offered.
    pub outcome: Result<String, Refusal>,
}

/// Why an event is not offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// perf_event_open refused it.
    Errno(Errno),
    /// It opened, and counted this many for so many locked instructions.
    Wrong {
        counted: u64,
        /// What was executed.
        executed: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno(errno) => write!(f, "perf_event_open: {errno}: {}", perf_probe::meaning(*errno)),
            Self::Wrong { counted: 0, executed } => {
                write!(f, "it opens, and counts nothing of {executed} locked instructions")
            }
            Self::Wrong { counted, executed } => write!(f, "it counts {counted} of {executed} locked instructions"),
        }
    }
}

/// What a machine's PMUs offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    pub tried: Vec<Tried>,
    /// The files that say which events there are to try.
    pub evidence: String,
}

impl Survey {
    /// What may be used.
    pub fn offered(&self) -> Vec<LockEvent> {
        let offered = self.tried.iter().filter(|t| t.outcome.is_ok());
        offered.map(|t| t.event.clone()).collect()
    }

    /// In one line, why nothing may be used.
    pub fn why_not(&self) -> String {
        let refused: Vec<String> = self
            .tried
            .iter()
            .filter_map(|t| Some(format!("{}: {}", t.event.name, t.outcome.as_ref().err()?)))
            .collect();
        if refused.is_empty() {
            self.evidence.clone()
        } else {
            refused.join("; ")
        }
    }
}

/// Finds and tries this machine's events.
pub fn survey(fs: &Sysfs, arch: &str, cpuinfo: &CpuInfo) -> Survey {
    let (found, evidence) = candidates(fs, arch, cpuinfo);
    let tried = found.into_iter().map(probe::tried).collect();
    Survey { tried, evidence }
}
