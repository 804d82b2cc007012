//! Rows whose errors are alike: what their loops do to the line, how far it travels, and the kind of workload that they are reported with.

use crate::machine::Distance;
use crate::placement;
use crate::{Job, Machine, Workload};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A kind of workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadKind {
    /// One read-modify-write that cannot fail.
    FetchAdd,
    /// A loop of compare-and-exchange, or of load-exclusive and store-exclusive.
    Exchange,
    /// A lock.
    Lock,
}

impl WorkloadKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::FetchAdd, Self::Exchange, Self::Lock];

    /// The kind of a workload; `None` for counters of one thread each and for whole system calls, which are none of them.
    pub const fn of(workload: Workload) -> Option<Self> {
        match Pattern::of(workload) {
            Some(pattern) => Some(pattern.kind()),
            None => None,
        }
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FetchAdd => "fetch-add",
            Self::Exchange => "exchange loops",
            Self::Lock => "locks",
        }
    }

    /// The median error that the examination asks for.
    pub const fn asked(self) -> f64 {
        match self {
            Self::FetchAdd => 0.10,
            Self::Exchange => 0.20,
            Self::Lock => 0.30,
        }
    }
}

/// What the loops of a workload do to their line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One read-modify-write that cannot fail.
    Addition,
    /// A loop of compare-and-exchange, or of load-exclusive and store-exclusive.
    Exchange,
    /// A lock whose waiters write its line.
    WritingLock,
    /// A lock whose waiters read its line until it changes.
    ReadingLock,
    /// A lock whose waiters each read a line of their own.
    QueueLock,
}

impl Pattern {
    /// The pattern of a workload; `None` for counters of one thread each and for whole system calls.
    pub const fn of(workload: Workload) -> Option<Self> {
        match workload {
            Workload::FetchAdd | Workload::Refcount | Workload::Rcuref => Some(Self::Addition),
            Workload::CasLoop
            | Workload::LlSc
            | Workload::RefcountCasFull
            | Workload::IncNotZero
            | Workload::LockrefUnbounded => Some(Self::Exchange),
            Workload::LockTas => Some(Self::WritingLock),
            Workload::LockTicket | Workload::LockTtas => Some(Self::ReadingLock),
            Workload::LockMcs | Workload::LockQueued | Workload::LockQspinlock | Workload::LockrefLocked => {
                Some(Self::QueueLock)
            }
            _ => None,
        }
    }

    /// Whether it is a lock that is handed on. That takes whole transfers, so their time must be known; additions and exchanges depend on
    /// little but what a contended row shows.
    pub const fn is_handed_on(self) -> bool {
        matches!(self, Self::ReadingLock | Self::QueueLock)
    }

    /// The kind that it is judged with.
    pub const fn kind(self) -> WorkloadKind {
        match self {
            Self::Addition => WorkloadKind::FetchAdd,
            Self::Exchange => WorkloadKind::Exchange,
            Self::WritingLock | Self::ReadingLock | Self::QueueLock => WorkloadKind::Lock,
        }
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Addition => "additions",
            Self::Exchange => "exchange loops",
            Self::WritingLock => "locks whose waiters write",
            Self::ReadingLock => "locks whose waiters read",
            Self::QueueLock => "locks with a queue",
        }
    }
}

/// How far a line travels between the threads of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Within one socket.
    Socket,
    /// Between sockets.
    Sockets,
}

impl Reach {
    /// The reach of a job; of one that does not fit the machine, that of the whole machine.
    pub fn of(machine: &Machine, job: &Job) -> Self {
        let Ok(cpus) = placement::cpus(machine, job) else {
            return Self::farthest(machine);
        };
        let first = cpus.first().copied().unwrap_or(0);
        let leaves = |cpu: &u32| machine.topology.distance(first, *cpu) == Distance::Remote;
        if cpus.iter().any(leaves) {
            Self::Sockets
        } else {
            Self::Socket
        }
    }

    /// How many cores have threads of a job; 0 if it does not fit the machine.
    pub(super) fn cores(machine: &Machine, job: &Job) -> usize {
        let cpus = placement::cpus(machine, job).unwrap_or_default();
        let cores: BTreeSet<u32> = cpus.iter().map(|cpu| machine.topology.locate(*cpu).core).collect();
        cores.len()
    }

    /// The reach of a job on all of the machine's CPUs.
    pub const fn farthest(machine: &Machine) -> Self {
        if machine.topology.sockets > 1 {
            Self::Sockets
        } else {
            Self::Socket
        }
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Socket => "in a socket",
            Self::Sockets => "between sockets",
        }
    }
}

/// Rows whose errors are judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Group {
    /// What their loops do to the line.
    pub pattern: Pattern,
    /// How far it travels.
    pub reach: Reach,
}

impl Group {
    /// Its name in tables.
    pub fn name(self) -> String {
        format!("{}, {}", self.pattern.name(), self.reach.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Placement, Topology};

    #[test]
    fn the_reach_is_that_of_the_cpus_with_threads() {
        let machine = Machine::plain(Topology::new(2, 1, 4, 2));
        let reach = |placement, threads| {
            let job = Job {
                placement,
                ..Job::new(Workload::FetchAdd, threads)
            };
            Reach::of(&machine, &job)
        };
        assert_eq!(reach(Placement::Compact, 4), Reach::Socket);
        assert_eq!(reach(Placement::Compact, 5), Reach::Sockets);
        assert_eq!(reach(Placement::CompactSmt, 8), Reach::Socket);
        assert_eq!(reach(Placement::CompactSmt, 9), Reach::Sockets);
        assert_eq!(reach(Placement::Spread, 2), Reach::Sockets);
        assert_eq!(reach(Placement::Spread, 1), Reach::Socket);
        // More threads than CPUs.
        assert_eq!(reach(Placement::Compact, 17), Reach::Sockets);
    }

    #[test]
    fn loops_and_locks_are_told_apart_and_system_calls_are_neither() {
        assert_eq!(WorkloadKind::of(Workload::LlSc), Some(WorkloadKind::Exchange));
        assert_eq!(WorkloadKind::of(Workload::LockrefLocked), Some(WorkloadKind::Lock));
        assert_eq!(WorkloadKind::of(Workload::Refcount), Some(WorkloadKind::FetchAdd));
        assert_eq!(WorkloadKind::of(Workload::OpenReadClose), None);
        assert_eq!(WorkloadKind::of(Workload::PercpuCounter), None);
        // A mix of exchanges and a lock behind a limit has no held-out rows of its own kind.
        assert_eq!(WorkloadKind::of(Workload::Lockref), None);
    }
}
