//! The workloads' programs: the algorithms of the library or of the kernel, written to read like them.
//!
//! A program is an `async` function of a `Cpu` that runs until the run is over. It reports when an operation begins and ends,
//! when a try fails, and how a retry loop ends. Each program's `prepare` allocates its shared state before the run, and returns
//! what its lines must contain after a number of operations, for the conservation checks.

mod adaptive;
mod counter;
mod lock;
mod lockref;
mod open_read_close;
mod queued;
mod refcount;
mod setup;

use crate::engine::{ALL, Cpu, LineId};
use crate::workload::{Job, Relax, Workload};
use lock::mcs::McsLock;
use lock::queue;
use lock::test_and_set::TestAndSetLock;
use lock::ticket::TicketLock;
use queued::Queued;
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
        Workload::FetchAdd => counter::prepare(job, &mut memory, counter::fetch_add),
        Workload::CasLoop => counter::prepare(job, &mut memory, counter::cas_loop),
        Workload::LlSc => counter::prepare(job, &mut memory, counter::ll_sc),
        Workload::RefcountCasFull | Workload::Refcount | Workload::Rcuref | Workload::IncNotZero => {
            refcount::prepare(job, &mut memory)
        }
        Workload::LockrefUnbounded | Workload::Lockref | Workload::LockrefLocked => lockref::prepare(job, &mut memory),
        Workload::LockrefAdaptive => adaptive::prepare(job, &mut memory),
        Workload::LockMcs => lock::prepare::<McsLock>(job, &mut memory),
        Workload::LockQueued => lock::prepare::<queue::Lock>(job, &mut memory),
        Workload::LockQspinlock => lock::prepare::<Queued>(job, &mut memory),
        Workload::LockTicket => lock::prepare::<TicketLock>(job, &mut memory),
        Workload::LockTas | Workload::LockTtas => lock::prepare::<TestAndSetLock>(job, &mut memory),
        Workload::PercpuCounter => counter::percpu(job, &mut memory),
        Workload::OpenReadClose
        | Workload::OpenReadCloseQueued
        | Workload::OpenReadCloseThreads
        | Workload::OpenReadCloseThreadsQueued => open_read_close::prepare(job, &mut memory),
    };
    Prepared {
        memory,
        start,
        start_reader: setup::start((), read),
        expected,
    }
}

/// Only reads the first line, again each time its copy is invalidated: false sharing.
async fn read(cpu: Cpu, (): ()) {
    let mut seen = cpu.load(LineId(0), ALL).await;
    while cpu.again() {
        seen = cpu.wait_until(LineId(0), ALL, Relax::None, |now| now != seen).await;
    }
}
