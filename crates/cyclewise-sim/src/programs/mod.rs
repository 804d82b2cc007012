//! The workloads' programs: the algorithms of the library or of the kernel, written to read like them.
//!
//! A program is an `async` function of a `Cpu` that runs until the run is over. It reports when an operation begins and ends,
//! when a try fails, and how a retry loop ends. Each program's `prepare` allocates its shared state before the run, and returns
//! what its lines must contain after a number of operations, for the conservation checks.

mod adaptive;
mod cas_loop;
mod counter;
mod fetch_add;
mod ll_sc;
mod lock;
mod lockref;
mod open_read_close;
mod percpu;
mod queued;
mod reader;
mod refcount;
mod setup;

use crate::workload::{Job, Workload};
use setup::{Expected, Memory, Start};

/// A workload that is ready to run.
pub(crate) struct Prepared {
    pub(crate) memory: Memory,
    /// Starts a worker.
    pub(crate) start: Start,
    /// Starts a reader.
    pub(crate) start_reader: Start,
    pub(crate) expected: Expected,
}

/// Prepares a job's workload.
pub(crate) fn prepare(job: &Job) -> Prepared {
    let mut memory = Memory::default();
    let (start, expected) = match job.workload {
        Workload::FetchAdd => counter::prepare(job, &mut memory, fetch_add::body),
        Workload::CasLoop => counter::prepare(job, &mut memory, cas_loop::body),
        Workload::LlSc => counter::prepare(job, &mut memory, ll_sc::body),
        Workload::RefcountCasFull => refcount::cas_full(job, &mut memory),
        Workload::Refcount => refcount::refcount(job, &mut memory),
        Workload::Rcuref => refcount::rcuref(job, &mut memory),
        Workload::IncNotZero => refcount::inc_not_zero(job, &mut memory),
        Workload::LockrefUnbounded | Workload::Lockref | Workload::LockrefLocked => lockref::prepare(job, &mut memory),
        Workload::LockrefAdaptive => adaptive::prepare(job, &mut memory),
        Workload::LockMcs => lock::mcs::prepare(job, &mut memory),
        Workload::LockQueued => lock::queued(job, &mut memory),
        Workload::LockQspinlock => lock::qspinlock(job, &mut memory),
        Workload::LockTicket => lock::ticket::prepare(job, &mut memory),
        Workload::LockTas | Workload::LockTtas => lock::test_and_set::prepare(job, &mut memory),
        Workload::PercpuCounter => percpu::prepare(job, &mut memory),
        Workload::OpenReadClose
        | Workload::OpenReadCloseQueued
        | Workload::OpenReadCloseThreads
        | Workload::OpenReadCloseThreadsQueued => open_read_close::prepare(job, &mut memory),
    };
    Prepared {
        memory,
        start,
        start_reader: reader::start_reader(),
        expected,
    }
}
