//! How long the simulation of a point takes, relative to other points, without simulating it.
//!
//! # Law
//! The time is proportional to the events, and these are operations times events of an operation. An operation has some events of
//! its own. Where threads compete for a line by compare-and-exchange, each success lets the others fail, so events grow with the
//! competitors; a hold (`line.hold`) lets the owner finish, so that only siblings of a core disturb it. A retry limit bounds them by
//! the cost of the lock. Locks whose waiters all watch one line have events for each waiter.
//!
//! # Invariants
//! 1. The result is a function of the machine and the job, in integers, so that it is the same on every machine and with every
//!    mathematical library: shards that are computed on different nodes must agree on their points.
//! 2. The formula is part of the format: a change of any constant changes which points a shard has, and needs a new name in
//!    [`ShardBy`](super::ShardBy).
//!
//! # References
//! The constants are fitted to the events of the built-in machines; `design/fleet.md` has the error.

use crate::machine::{Arbiter, Hold};
use crate::{Distance, Job, Length, Machine, Placement, Workload};

/// Units of an event: costs are integers.
const EVENT: u64 = 100;

/// Events of an operation under the queued lock, its pair of exchanges replaced by two critical sections.
const LOCKED: u64 = 83 * EVENT;

/// The cost of a point in hundredths of an event, at least 1.
pub(crate) fn of(machine: &Machine, job: &Job) -> u64 {
    let operations = match job.length {
        Length::Operations { warm_up, measured } => warm_up.saturating_add(measured),
        // How long it takes is not known before; this is the least.
        Length::Steady { .. } => 1_500.max(u64::from(job.threads).saturating_mul(24)),
    };
    operations.saturating_mul(per_operation(machine, job)).max(1)
}

fn per_operation(machine: &Machine, job: &Job) -> u64 {
    use Workload as W;
    let crowd = Crowd::of(machine, job);
    let tries = crowd.failed_tries();
    let locked = crowd.locked();
    match job.workload {
        W::FetchAdd | W::PercpuCounter => 3 * EVENT,
        W::Refcount | W::Rcuref => 6 * EVENT,
        W::CasLoop => 5 * EVENT + tries,
        W::LlSc if machine.line.ll_hold.is_some() => 7 * EVENT,
        W::LlSc => 5 * EVENT + 150 * crowd.threads,
        W::IncNotZero if crowd.is_fair => 6 * EVENT + 2 * tries,
        W::IncNotZero => 6 * EVENT + tries / 4,
        W::RefcountCasFull | W::LockrefUnbounded => crowd.exchanges(),
        W::Lockref => crowd.limited(job.retry_limit),
        W::LockrefAdaptive => crowd.limited(job.retry_limit).min(locked * 85 / 100),
        W::LockrefLocked => locked,
        W::LockMcs => 26 * EVENT,
        W::LockQueued => 16 * EVENT,
        W::LockQspinlock => 40 * EVENT,
        W::LockTicket => 10 * EVENT + 330 * crowd.on_cores + 10 * crowd.siblings,
        W::LockTas if crowd.holds => 5 * EVENT + 550 * crowd.on_cores,
        W::LockTas => 5 * EVENT + 310 * crowd.on_cores + 200 * crowd.siblings,
        W::LockTtas if crowd.holds => 10 * EVENT + 100 * crowd.on_cores + 160 * crowd.siblings,
        W::LockTtas => 5 * EVENT + tries * 3 / 2,
        W::OpenReadClose => 26 * EVENT + crowd.limited(job.retry_limit),
        W::OpenReadCloseThreads | W::OpenReadCloseThreadsQueued => 28 * EVENT + locked,
        // The queued variants, and workloads that are added later.
        _ => 24 * EVENT + locked,
    }
}

/// Who competes for a line.
struct Crowd {
    /// All threads, those that only read included.
    threads: u64,
    /// Threads that are the first of their core.
    on_cores: u64,
    /// The others.
    siblings: u64,
    /// Groups that the arbiter serves one after another.
    groups: u64,
    /// Whether a new owner may keep the line.
    holds: bool,
    /// Whether the arbiter lets no one try twice before everyone has.
    is_fair: bool,
    /// Whether threads work for so long between their operations that they seldom meet.
    is_sparse: bool,
}

impl Crowd {
    fn of(machine: &Machine, job: &Job) -> Self {
        let topology = machine.topology;
        let threads = (u64::from(job.threads) + u64::from(job.readers)).max(1);
        let per_core = u64::from(topology.threads_per_core).max(1);
        let on_cores = match job.placement {
            Placement::CompactSmt => threads.div_ceil(per_core),
            Placement::Compact | Placement::Spread => threads.min(u64::from(topology.cores())),
        };
        let per_socket = u64::from(topology.cores_per_socket()).max(1);
        let sockets = u64::from(topology.sockets);
        let used = match job.placement {
            Placement::Spread => threads.min(sockets),
            Placement::Compact | Placement::CompactSmt => on_cores.div_ceil(per_socket),
        };
        let batches = matches!(machine.line.arbiter, Arbiter::Batch { .. });
        let holds = machine.line.hold != Hold::None;
        // An operation keeps the line for a few transfers. In picoseconds: as integers, since the bounds of machine files are.
        let transfer = (machine.transfer_ns(Distance::Socket) * 1000.0) as u128;
        let cycle = (1000.0 / machine.ghz) as u128;
        Self {
            threads,
            on_cores,
            siblings: threads - on_cores,
            groups: if batches { used.max(1) } else { 1 },
            holds,
            is_fair: !holds && !batches,
            // Saturating: a stranger's machine may be any numbers.
            is_sparse: u128::from(threads * 3).saturating_mul(transfer)
                < u128::from(job.parallel_cycles).saturating_mul(cycle),
        }
    }

    /// Events of the failed exchanges for each that succeeds.
    fn failed_tries(&self) -> u64 {
        if self.is_sparse {
            0
        } else if self.holds {
            70 * self.siblings
        } else {
            (300 * self.on_cores + 200 * self.siblings) / self.groups
        }
    }

    /// A get and a put by exchanges without a limit.
    fn exchanges(&self) -> u64 {
        let tries = self.failed_tries();
        let of_both = match (self.holds, self.is_fair) {
            (true, _) => tries,
            (_, true) => 2 * tries,
            (_, false) => tries * 155 / 100,
        };
        7 * EVENT + of_both
    }

    /// A get and a put under the lock. A sibling finds the lock's line in its core's cache.
    fn locked(&self) -> u64 {
        if self.threads == 1 {
            return 14 * EVENT;
        }
        LOCKED - 35 * EVENT * self.siblings / self.threads
    }

    /// A get and a put by exchanges, or under the lock after `limit` failures.
    fn limited(&self, limit: Option<u32>) -> u64 {
        let exchanges = self.exchanges();
        let Some(limit) = limit.map(u64::from) else {
            return exchanges;
        };
        // Where an arbiter serves in rounds, some threads fail several times as often as the average.
        let worst = if self.is_fair || self.holds { 1 } else { 6 };
        if self.threads == 1 || self.is_sparse || self.threads * worst / self.groups <= limit + 1 {
            return exchanges;
        }
        let failed_before = (limit.saturating_mul(limit) / 6000).saturating_mul(EVENT);
        if self.holds && self.siblings == 0 {
            return exchanges;
        }
        let under_lock = self.locked().saturating_add(failed_before);
        if self.is_fair || !self.holds {
            under_lock
        } else {
            under_lock.min(exchanges)
        }
    }
}

#[cfg(test)]
mod tests;
