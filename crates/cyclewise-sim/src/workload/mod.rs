//! Workloads by name, and a job's parameters.

mod job;

pub use job::{Job, Length, Placement, Relax, Start};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

macro_rules! workloads {
    ($($variant:ident $name:literal $about:literal)*) => {
        /// The workloads, each with the same algorithm as the library's or the kernel's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum Workload {
            $(#[doc = concat!("`", $name, "`: ", $about, ".")] $variant,)*
        }

        impl Workload {
            /// All workloads.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name on the command line and in documents.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// What one operation does, in one line.
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),* }
            }
        }
    };
}

workloads! {
    FetchAdd "fetch-add" "one counter, one read-modify-write"
    CasLoop "cas-loop" "one counter, a loop of load and compare-and-exchange"
    LlSc "ll-sc" "one counter, a loop of load-exclusive and store-exclusive"
    RefcountCasFull "refcount-cas-full" "get and put of a reference, each a compare-and-exchange loop"
    Refcount "refcount" "get and put of a reference, each one read-modify-write"
    Rcuref "rcuref" "get-unless-dead and put of a reference, each one read-modify-write"
    IncNotZero "inc-not-zero" "get-unless-zero by a compare-and-exchange loop, and put"
    LockrefUnbounded "lockref-unbounded" "a lockref's get and put, without a retry limit"
    Lockref "lockref" "a lockref's get and put, with a retry limit and then the queued lock"
    LockrefAdaptive "lockref-adaptive" "a lockref's get and put, with a return from the queued lock to exchanges"
    LockrefLocked "lockref-locked" "a lockref's get and put, always under the queued lock"
    LockMcs "lock-mcs" "a critical section under an MCS lock"
    LockQueued "lock-queued" "a critical section under the library's queued spinlock"
    LockQspinlock "lock-qspinlock" "a critical section under the kernel's queued spinlock"
    LockTicket "lock-ticket" "a critical section under a ticket lock"
    LockTas "lock-tas" "a critical section under a test-and-set lock"
    LockTtas "lock-ttas" "a critical section under a test-and-test-and-set lock"
    PercpuCounter "percpu-counter" "one counter per thread"
    OpenReadClose "open-read-close" "open, read, close by processes: lockref, refcount and a descriptor lock per process"
    OpenReadCloseQueued "open-read-close-queued" "open, read, close by processes, with the lockref always locked"
    OpenReadCloseThreads "open-read-close-threads" "open, read, close by threads: lockref, refcount and one descriptor lock"
    OpenReadCloseThreadsQueued "open-read-close-threads-queued" "the same, with the lockref always locked"
}

impl Workload {
    /// The workload's own parallel work: the rest of the system calls; 0 for the others.
    ///
    /// An uncontended open, read and close takes about 2 µs, which at 2.2 GHz is about this many cycles.
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

impl FromStr for Workload {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|workload| workload.name() == name);
        found.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|workload| workload.name()).collect();
            format!("there is no workload {name:?}; the workloads are {}", names.join(", "))
        })
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
        let error = "fetch-sub".parse::<Workload>().unwrap_err();
        assert!(
            error.starts_with("there is no workload \"fetch-sub\"; the workloads are fetch-add, cas-loop, "),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }
}
