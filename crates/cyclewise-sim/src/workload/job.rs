//! A workload's parameters: on how many threads, where, under which policy, and for how long.

use super::Workload;
use serde::{Deserialize, Serialize};

/// What a loop does between two tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Relax {
    /// Nothing.
    #[default]
    None,
    /// One PAUSE or YIELD.
    Pause,
    /// One pause, then two, four and so on.
    Exponential {
        /// Most pauses at a time.
        max: u32,
    },
}

/// Which CPUs the threads are put on, one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Over all sockets in turn, each core once before its siblings are used.
    Spread,
    /// A socket's cores, then the next one's; siblings when every core has a thread.
    #[default]
    Compact,
    /// Every thread of a core, then the next core.
    CompactSmt,
}

/// How long a job is: a warm-up that is not counted, and a part that is.
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
    /// In simulated time.
    Nanoseconds {
        /// Not counted.
        warm_up: u64,
        /// Counted.
        measured: u64,
    },
}

/// A workload and its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The program.
    pub workload: Workload,
    /// How many threads run it.
    pub threads: u32,
    /// After how many tries in vain a lockref takes its lock; never where there is none.
    pub retry_limit: Option<u32>,
    /// What loops do between tries.
    pub relax: Relax,
    /// Work inside a critical section, or between taking a reference and giving it back, in cycles.
    pub critical_cycles: u32,
    /// Work between two operations, in cycles.
    pub parallel_cycles: u32,
    /// Which CPUs the threads are put on.
    pub placement: Placement,
    /// Threads that do nothing but read the first contended line; they get CPUs after the others.
    pub readers: u32,
    /// How long it is.
    pub length: Length,
    /// Where its randomness starts.
    pub seed: u64,
}

impl Job {
    /// A workload on so many threads, with nothing between operations but what is its own, and no limit of retries.
    ///
    /// The length grows with the threads, so that each has its turns.
    #[must_use]
    pub fn new(workload: Workload, threads: u32) -> Self {
        let turns = match workload {
            // Nobody waits for turns, so that many pass while the lines come.
            Workload::PercpuCounter => 200,
            _ => 10,
        };
        Self {
            workload,
            threads,
            retry_limit: None,
            relax: Relax::None,
            critical_cycles: 0,
            parallel_cycles: workload.parallel_cycles(),
            placement: Placement::default(),
            readers: 0,
            length: Length::Operations {
                warm_up: turns / 2 * u64::from(threads),
                measured: 1_000.max(turns * u64::from(threads)),
            },
            seed: 1,
        }
    }
}
