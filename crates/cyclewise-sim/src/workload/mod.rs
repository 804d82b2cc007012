//! Workloads by name, and a job's parameters.

mod job;

pub use job::{Job, Length, Placement, Relax, Start};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The workloads, each with the same algorithm as the library's or the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Workload {
    /// One counter, one read-modify-write.
    FetchAdd,
    /// One counter: a loop of load and compare-and-exchange.
    CasLoop,
    /// One counter: a loop of load-exclusive and store-exclusive.
    LlSc,
    /// Get and put of a reference, each a compare-and-exchange loop.
    RefcountCasFull,
    /// Get and put of a reference, each one read-modify-write.
    Refcount,
    /// Get-unless-dead without a loop, and put.
    Rcuref,
    /// Get-unless-zero by a compare-and-exchange loop, and put.
    IncNotZero,
    /// A lockref's get and put, without a retry limit.
    LockrefUnbounded,
    /// A lockref's get and put with the kernel's policy: a retry limit, then the queued lock.
    Lockref,
    /// A lockref's get and put with the library's policy, which can return from the lock to exchanges.
    LockrefAdaptive,
    /// A lockref's get and put, always under the queued lock.
    LockrefLocked,
    /// A critical section under an MCS lock: each waiter spins on its own line.
    LockMcs,
    /// A critical section under the library's queued spinlock.
    LockQueued,
    /// A critical section under the kernel's queued spinlock.
    LockQspinlock,
    /// A critical section under a ticket lock.
    LockTicket,
    /// A critical section under a test-and-set lock.
    LockTas,
    /// A critical section under a test-and-test-and-set lock.
    LockTtas,
    /// One counter per thread.
    PercpuCounter,
    /// Processes open, read and close one file: a lockref, a reference count, and a lock per descriptor table.
    OpenReadClose,
    /// As `open-read-close`, with the lockref always under its queued lock.
    OpenReadCloseQueued,
    /// As `open-read-close`, by the threads of one process, which share a descriptor table.
    OpenReadCloseThreads,
    /// The same, with the lockref always under its queued lock.
    OpenReadCloseThreadsQueued,
}

impl Workload {
    /// All workloads.
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
        Self::OpenReadCloseQueued,
        Self::OpenReadCloseThreads,
        Self::OpenReadCloseThreadsQueued,
    ];

    /// The name on the command line and in documents.
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
            Self::OpenReadCloseQueued => "open-read-close-queued",
            Self::OpenReadCloseThreads => "open-read-close-threads",
            Self::OpenReadCloseThreadsQueued => "open-read-close-threads-queued",
        }
    }

    /// What one operation does, in one line.
    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Self::FetchAdd => "one counter, one read-modify-write",
            Self::CasLoop => "one counter, a loop of load and compare-and-exchange",
            Self::LlSc => "one counter, a loop of load-exclusive and store-exclusive",
            Self::RefcountCasFull => "get and put of a reference, each a compare-and-exchange loop",
            Self::Refcount => "get and put of a reference, each one read-modify-write",
            Self::Rcuref => "get-unless-dead and put of a reference, each one read-modify-write",
            Self::IncNotZero => "get-unless-zero by a compare-and-exchange loop, and put",
            Self::LockrefUnbounded => "a lockref's get and put, without a retry limit",
            Self::Lockref => "a lockref's get and put, with a retry limit and then the queued lock",
            Self::LockrefAdaptive => "a lockref's get and put, with a return from the queued lock to exchanges",
            Self::LockrefLocked => "a lockref's get and put, always under the queued lock",
            Self::LockMcs => "a critical section under an MCS lock",
            Self::LockQueued => "a critical section under the library's queued spinlock",
            Self::LockQspinlock => "a critical section under the kernel's queued spinlock",
            Self::LockTicket => "a critical section under a ticket lock",
            Self::LockTas => "a critical section under a test-and-set lock",
            Self::LockTtas => "a critical section under a test-and-test-and-set lock",
            Self::PercpuCounter => "one counter per thread",
            Self::OpenReadClose => {
                "open, read, close by processes: lockref, refcount and a descriptor lock per process"
            }
            Self::OpenReadCloseQueued => "open, read, close by processes, with the lockref always locked",
            Self::OpenReadCloseThreads => "open, read, close by threads: lockref, refcount and one descriptor lock",
            Self::OpenReadCloseThreadsQueued => "the same, with the lockref always locked",
        }
    }

    /// The workload's own parallel work: the rest of the system calls; 0 for the others.
    ///
    /// An uncontended open, read and close takes about 2 µs, which at 2.2 GHz is about this many cycles.
    #[must_use]
    pub const fn parallel_cycles(self) -> u32 {
        match self {
            Self::OpenReadClose
            | Self::OpenReadCloseQueued
            | Self::OpenReadCloseThreads
            | Self::OpenReadCloseThreadsQueued => 5_000,
            _ => 0,
        }
    }

    /// Whether the job's retry limit applies.
    #[must_use]
    pub const fn takes_retry_limit(self) -> bool {
        matches!(
            self,
            Self::Lockref | Self::LockrefAdaptive | Self::OpenReadClose | Self::OpenReadCloseThreads
        )
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No workload has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWorkload(String);

impl fmt::Display for UnknownWorkload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no workload {:?}; the workloads are", self.0)?;
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
    fn the_error_of_an_unknown_name_lists_all_names() {
        let error = "fetch-sub".parse::<Workload>().unwrap_err().to_string();
        assert!(
            error.starts_with("there is no workload \"fetch-sub\"; the workloads are fetch-add, cas-loop, "),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }
}
