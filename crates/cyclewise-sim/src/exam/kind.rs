//! Kinds of workloads, whose errors are judged together.

use super::Pattern;
use crate::Workload;
use serde::{Deserialize, Serialize};

/// A kind of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One read-modify-write that cannot fail.
    FetchAdd,
    /// A loop of compare-and-exchange, or of load-exclusive and store-exclusive.
    Exchange,
    /// A lock.
    Lock,
}

impl Kind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::FetchAdd, Self::Exchange, Self::Lock];

    /// The kind of a workload; `None` for counters of one thread each and for whole system calls, which are none of them.
    #[must_use]
    pub const fn of(workload: Workload) -> Option<Self> {
        match Pattern::of(workload) {
            Some(pattern) => Some(pattern.kind()),
            None => None,
        }
    }

    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FetchAdd => "fetch-add",
            Self::Exchange => "exchange loops",
            Self::Lock => "locks",
        }
    }

    /// The median error that the examination asks for.
    #[must_use]
    pub const fn asked(self) -> f64 {
        match self {
            Self::FetchAdd => 0.10,
            Self::Exchange => 0.20,
            Self::Lock => 0.25,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_locks_are_told_apart_and_system_calls_are_neither() {
        assert_eq!(Kind::of(Workload::LlSc), Some(Kind::Exchange));
        assert_eq!(Kind::of(Workload::LockrefLocked), Some(Kind::Lock));
        assert_eq!(Kind::of(Workload::Refcount), Some(Kind::FetchAdd));
        assert_eq!(Kind::of(Workload::OpenReadClose), None);
        assert_eq!(Kind::of(Workload::PercpuCounter), None);
        // A mix of exchanges and a lock behind a limit has no held-out rows of its own kind.
        assert_eq!(Kind::of(Workload::Lockref), None);
    }
}
