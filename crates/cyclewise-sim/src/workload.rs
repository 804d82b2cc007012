//! What is run: the programs by name, and a job's parameters.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The programs, each the same algorithm as the library's or the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Workload {
    /// One counter, one read-modify-write.
    FetchAdd,
    /// One counter: load, then compare-and-exchange until it succeeds.
    CasLoop,
    /// One counter: load-exclusive and store-exclusive until that succeeds.
    LlSc,
    /// A reference taken and given back, each a loop of compare-and-exchange.
    RefcountCasFull,
    /// A reference taken and given back, each one read-modify-write.
    Refcount,
    /// A reference taken unless there is none, without a loop, and given back.
    Rcuref,
    /// A reference taken unless there is none, by a loop of compare-and-exchange.
    IncNotZero,
    /// A lockref's get and put, by exchanges alone as long as the lock is free.
    LockrefUnbounded,
    /// A lockref's get and put with the retry limit, and the queued lock behind it; the kernel's policy.
    Lockref,
    /// The same with the library's way back from the lock.
    LockrefAdaptive,
    /// A lockref's get and put under the queued lock alone.
    LockrefLocked,
    /// A section under a queue of waiters that each spin on a line of their own.
    LockMcs,
    /// A section under the queued spinlock: a word that is tried for, and a queue behind it.
    LockQueued,
    /// A section under a ticket lock.
    LockTicket,
    /// A section under a test-and-set lock that exchanges and nothing else.
    LockTas,
    /// A section under a test-and-set lock that looks until it is free before it exchanges.
    LockTtas,
    /// A counter for each thread.
    PercpuCounter,
    /// Open, read and close one file: a lockref, a reference count, and the descriptor table's lock.
    OpenReadClose,
    /// The same with the reference count a loop of compare-and-exchange.
    OpenReadCloseFull,
    /// As `open-read-close`, with the lockref under its queued lock alone.
    OpenReadCloseQueued,
    /// As `open-read-close-full`, with the lockref under its queued lock alone.
    OpenReadCloseQueuedFull,
}

impl Workload {
    /// Every one of them.
    pub const ALL: &[Self] = &[
        Self::FetchAdd,
        Self::CasLoop,
        Self::LlSc,
        Self::RefcountCasFull,
        Self::Refcount,
        Self::Rcuref,
        Self::IncNotZero,
        Self::LockrefUnbounded,
        Self::Lockref,
        Self::LockrefAdaptive,
        Self::LockrefLocked,
        Self::LockMcs,
        Self::LockQueued,
        Self::LockTicket,
        Self::LockTas,
        Self::LockTtas,
        Self::PercpuCounter,
        Self::OpenReadClose,
        Self::OpenReadCloseFull,
        Self::OpenReadCloseQueued,
        Self::OpenReadCloseQueuedFull,
    ];

    /// What it is called on the command line and in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FetchAdd => "fetch-add",
            Self::CasLoop => "cas-loop",
            Self::LlSc => "ll-sc",
            Self::RefcountCasFull => "refcount-cas-full",
            Self::Refcount => "refcount",
            Self::Rcuref => "rcuref",
            Self::IncNotZero => "inc-not-zero",
            Self::LockrefUnbounded => "lockref-unbounded",
            Self::Lockref => "lockref",
            Self::LockrefAdaptive => "lockref-adaptive",
            Self::LockrefLocked => "lockref-locked",
            Self::LockMcs => "lock-mcs",
            Self::LockQueued => "lock-queued",
            Self::LockTicket => "lock-ticket",
            Self::LockTas => "lock-tas",
            Self::LockTtas => "lock-ttas",
            Self::PercpuCounter => "percpu-counter",
            Self::OpenReadClose => "open-read-close",
            Self::OpenReadCloseFull => "open-read-close-full",
            Self::OpenReadCloseQueued => "open-read-close-queued",
            Self::OpenReadCloseQueuedFull => "open-read-close-queued-full",
        }
    }

    /// What it does, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::FetchAdd => "one counter, one read-modify-write",
            Self::CasLoop => "one counter, a loop of load and compare-and-exchange",
            Self::LlSc => "one counter, a loop of load-exclusive and store-exclusive",
            Self::RefcountCasFull => "get and put of a reference, each a loop of compare-and-exchange",
            Self::Refcount => "get and put of a reference, each one read-modify-write",
            Self::Rcuref => "get-unless-dead and put of a reference, each one read-modify-write",
            Self::IncNotZero => "get-unless-zero by a loop of compare-and-exchange, and put",
            Self::LockrefUnbounded => "a lockref's get and put, without a limit of retries",
            Self::Lockref => "a lockref's get and put, so many retries and then the queued lock",
            Self::LockrefAdaptive => "a lockref's get and put, with a way back from the queued lock",
            Self::LockrefLocked => "a lockref's get and put, under the queued lock alone",
            Self::LockMcs => "a section under an MCS lock",
            Self::LockQueued => "a section under the queued spinlock",
            Self::LockTicket => "a section under a ticket lock",
            Self::LockTas => "a section under a test-and-set lock that exchanges and nothing else",
            Self::LockTtas => "a section under a test-and-set lock that looks until it is free before it exchanges",
            Self::PercpuCounter => "a counter for each thread",
            Self::OpenReadClose => "open, read, close: lockref, refcount and descriptor lock",
            Self::OpenReadCloseFull => "the same with a refcount of compare-and-exchange loops",
            Self::OpenReadCloseQueued => "open, read, close with the lockref always locked",
            Self::OpenReadCloseQueuedFull => "the same with a refcount of compare-and-exchange loops",
        }
    }

    /// Whether the job's retry limit matters to it.
    #[must_use]
    pub const fn takes_retry_limit(self) -> bool {
        matches!(
            self,
            Self::Lockref | Self::LockrefAdaptive | Self::OpenReadClose | Self::OpenReadCloseFull
        )
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no workload of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWorkload(String);

impl fmt::Display for UnknownWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no workload {:?}; there are", self.0)?;
        let mut separator = " ";
        for workload in Workload::ALL {
            write!(f, "{separator}{workload}")?;
            separator = ", ";
        }
        Ok(())
    }
}

impl std::error::Error for UnknownWorkload {}

impl FromStr for Workload {
    type Err = UnknownWorkload;

    fn from_str(name: &str) -> Result<Self, UnknownWorkload> {
        let found = Self::ALL.iter().find(|workload| workload.name() == name);
        found.copied().ok_or_else(|| UnknownWorkload(name.to_string()))
    }
}

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
    /// A workload on so many threads, with nothing between operations and no limit of retries.
    ///
    /// The length grows with the threads, so that each has its turns.
    #[must_use]
    pub fn new(workload: Workload, threads: u32) -> Self {
        let turns = match workload {
            // Nobody waits for turns, so that many pass while the lines come.
            Workload::PercpuCounter => 1000,
            _ => 10,
        };
        Self {
            workload,
            threads,
            retry_limit: None,
            relax: Relax::None,
            critical_cycles: 0,
            parallel_cycles: 0,
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
