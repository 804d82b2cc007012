//! A workload's parameters: threads, placement, policy and length.

use super::Workload;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The relax policy: what a loop does between two tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Relax {
    /// Nothing.
    #[default]
    None,
    /// One PAUSE or YIELD instruction.
    Pause,
    /// One pause, then two, then four, and so on.
    Exponential {
        /// Most pauses at a time.
        max: u32,
    },
}

/// The policy as the command line spells it: `none`, `pause` or `exponential:MAX`.
impl fmt::Display for Relax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Pause => f.write_str("pause"),
            Self::Exponential { max } => write!(f, "exponential:{max}"),
        }
    }
}

/// How threads are placed on CPUs, one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Round-robin over sockets; every core gets one thread before any gets two
    Spread,
    /// Fill one socket's cores, then the next; every core gets one thread before any gets two
    #[default]
    Compact,
    /// Fill all hardware threads of a core, then the next core
    CompactSmt,
}

impl Placement {
    /// The placement's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spread => "spread",
            Self::Compact => "compact",
            Self::CompactSmt => "compact-smt",
        }
    }
}

/// How the threads begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// One after another, in random order, at random times: within a hundred steps per thread, and at most ten thousand.
    #[default]
    Scattered,
    /// All at once, at the first contended line: within a hundred steps; and then no thread's first access to the first contended line is made before each thread is there. A
    /// system with two stable regimes is then in the one with the crowd at that line.
    Crowd,
}

/// A job's length: an uncounted warm-up, and the measured part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Length {
    /// In operations of all threads together.
    Operations {
        /// Not counted.
        warm_up: u64,
        /// Counted.
        measured: u64,
    },
    /// A warm-up until throughput is stationary, and a window as long as the warm-up; see [`Length::STEADY`].
    Steady {
        /// Operations of each thread after which the run ends in any case.
        most_per_thread: u64,
    },
}

impl Length {
    /// The length of every job that does not say otherwise: of sweeps and recommendations.
    pub const STEADY: Self = Self::Steady { most_per_thread: 2_000 };

    /// So many operations of all threads together.
    pub const fn operations(warm_up: u64, measured: u64) -> Self {
        Self::Operations { warm_up, measured }
    }
}

/// A workload and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The workload.
    pub workload: Workload,
    /// How many threads run it.
    pub threads: u32,
    /// The number of failed tries after which a lockref takes its lock; `None` is no limit.
    pub retry_limit: Option<u32>,
    /// The relax policy between tries.
    pub relax: Relax,
    /// Work inside a critical section, or while holding a reference, in cycles.
    pub critical_cycles: u32,
    /// Whether a lock's critical section increments a counter on a line of its own; without it nothing shows whether the lock excludes.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub counter: bool,
    /// Work between two operations, in cycles.
    pub parallel_cycles: u32,
    /// Which CPUs have threads; which thread has which of them is random.
    pub placement: Placement,
    /// How the threads begin.
    #[serde(default)]
    pub start: Start,
    /// Threads that only read the first contended line; they get CPUs after the others.
    pub readers: u32,
    /// The length.
    pub length: Length,
    /// Seed of the random numbers.
    pub seed: u64,
}

const fn yes() -> bool {
    true
}

const fn is_yes(yes: &bool) -> bool {
    *yes
}

impl Job {
    /// A workload on `threads` threads, with only its own parallel work and no retry limit, until its throughput is known.
    pub fn new(workload: Workload, threads: u32) -> Self {
        Self {
            workload,
            threads,
            retry_limit: None,
            relax: Relax::None,
            critical_cycles: 0,
            counter: true,
            parallel_cycles: workload.parallel_cycles(),
            placement: Placement::default(),
            start: Start::default(),
            readers: 0,
            length: Length::STEADY,
            seed: 1,
        }
    }
}
