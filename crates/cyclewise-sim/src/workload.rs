//! What is run: the programs by name, and a job's parameters.

mod job;

pub use job::{Job, Length, Placement, Relax};

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
    /// A section under the library's queued spinlock: a word that is tried for, and a queue behind it.
    LockQueued,
    /// A section under the kernel's queued spinlock.
    LockQspinlock,
    /// A section under a ticket lock.
    LockTicket,
    /// A section under a test-and-set lock that exchanges and nothing else.
    LockTas,
    /// A section under a test-and-set lock that looks until it is free before it exchanges.
    LockTtas,
    /// A counter for each thread.
    PercpuCounter,
    /// Open, read and close one file by processes: a lockref, a reference count, and each one's own descriptor table's lock.
    OpenReadClose,
    /// The same with the reference count a loop of compare-and-exchange.
    OpenReadCloseFull,
    /// As `open-read-close`, with the lockref under its queued lock alone.
    OpenReadCloseQueued,
    /// As `open-read-close-full`, with the lockref under its queued lock alone.
    OpenReadCloseQueuedFull,
    /// As `open-read-close` by the threads of one process, which share its descriptor table.
    OpenReadCloseThreads,
    /// The same with the lockref under its queued lock alone.
    OpenReadCloseThreadsQueued,
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
        Self::LockQspinlock,
        Self::LockTicket,
        Self::LockTas,
        Self::LockTtas,
        Self::PercpuCounter,
        Self::OpenReadClose,
        Self::OpenReadCloseFull,
        Self::OpenReadCloseQueued,
        Self::OpenReadCloseQueuedFull,
        Self::OpenReadCloseThreads,
        Self::OpenReadCloseThreadsQueued,
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
            Self::LockQspinlock => "lock-qspinlock",
            Self::LockTicket => "lock-ticket",
            Self::LockTas => "lock-tas",
            Self::LockTtas => "lock-ttas",
            Self::PercpuCounter => "percpu-counter",
            Self::OpenReadClose => "open-read-close",
            Self::OpenReadCloseFull => "open-read-close-full",
            Self::OpenReadCloseQueued => "open-read-close-queued",
            Self::OpenReadCloseQueuedFull => "open-read-close-queued-full",
            Self::OpenReadCloseThreads => "open-read-close-threads",
            Self::OpenReadCloseThreadsQueued => "open-read-close-threads-queued",
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
            Self::LockQueued => "a section under the library's queued spinlock",
            Self::LockQspinlock => "a section under the kernel's queued spinlock",
            Self::LockTicket => "a section under a ticket lock",
            Self::LockTas => "a section under a test-and-set lock that exchanges and nothing else",
            Self::LockTtas => "a section under a test-and-set lock that looks until it is free before it exchanges",
            Self::PercpuCounter => "a counter for each thread",
            Self::OpenReadClose => "open, read, close by processes: lockref, refcount and each one's descriptor lock",
            Self::OpenReadCloseFull => "the same with a refcount of compare-and-exchange loops",
            Self::OpenReadCloseQueued => "open, read, close with the lockref always locked",
            Self::OpenReadCloseQueuedFull => "the same with a refcount of compare-and-exchange loops",
            Self::OpenReadCloseThreads => "open, read, close by threads: lockref, refcount and one descriptor lock",
            Self::OpenReadCloseThreadsQueued => "the same with the lockref always locked",
        }
    }

    /// The work between two operations that belongs to it: what the system calls do besides, and otherwise none.
    ///
    /// An uncontended open, read and close take some 2 µs; at 2.2 GHz that is so many cycles.
    #[must_use]
    pub const fn parallel_cycles(self) -> u32 {
        match self {
            Self::OpenReadClose
            | Self::OpenReadCloseFull
            | Self::OpenReadCloseQueued
            | Self::OpenReadCloseQueuedFull
            | Self::OpenReadCloseThreads
            | Self::OpenReadCloseThreadsQueued => 5_000,
            _ => 0,
        }
    }

    /// Whether the job's retry limit matters to it.
    #[must_use]
    pub const fn takes_retry_limit(self) -> bool {
        matches!(
            self,
            Self::Lockref
                | Self::LockrefAdaptive
                | Self::OpenReadClose
                | Self::OpenReadCloseFull
                | Self::OpenReadCloseThreads
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_workload_is_found_by_its_own_name() {
        let names: BTreeSet<_> = Workload::ALL.iter().map(|workload| workload.name()).collect();
        assert_eq!(names.len(), Workload::ALL.len());
        for &workload in Workload::ALL {
            assert_eq!(workload.name().parse(), Ok(workload));
            let written = serde_json::to_string(&workload).unwrap();
            assert_eq!(written, format!("\"{workload}\""));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        let error = "fetch-sub".parse::<Workload>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no workload \"fetch-sub\"; there are fetch-add, cas-loop, "),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }
}
