//! The programs: each the algorithm of the library or of the kernel, in a form that reads like it.
//!
//! A program is an `async` function of a [`Cpu`] that works until the run is over. It says when an operation begins and
//! ends, when a try was in vain, and how a loop of tries ended. What is shared it allocates before the run, and there it
//! also says what its lines hold after so many operations: what the tests of conservation go by.

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

use crate::engine::{Cpu, Line, Program};
use crate::workload::{Job, Workload};

/// Memory before the run.
#[derive(Debug, Default)]
pub(crate) struct Memory(Vec<u64>);

impl Memory {
    /// A line that holds this.
    fn line(&mut self, value: u64) -> Line {
        self.0.push(value);
        Line(u32::try_from(self.0.len() - 1).expect("some lines for each thread"))
    }

    /// A line for each thread.
    fn lines(&mut self, threads: u32, value: u64) -> Vec<Line> {
        (0..threads).map(|_| self.line(value)).collect()
    }

    /// What each line holds.
    pub(crate) fn values(&self) -> &[u64] {
        &self.0
    }
}

/// A line's bits, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holds {
    pub(crate) line: Line,
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

/// Starts a program on a CPU.
type Start = Box<dyn Fn(Cpu) -> Program>;
/// What lines hold after so many operations that have all come to their end.
type After = Box<dyn Fn(u64) -> Vec<Holds>>;

/// A workload that is ready to run.
pub(crate) struct Plan {
    pub(crate) memory: Memory,
    /// What each thread does.
    pub(crate) start: Start,
    /// What each reader does.
    pub(crate) read: Start,
    pub(crate) after: After,
}

/// A job's program.
pub(crate) fn plan(job: &Job) -> Plan {
    let mut memory = Memory::default();
    let (start, after) = match job.workload {
        Workload::FetchAdd => counter::plan(job, &mut memory, fetch_add::body),
        Workload::CasLoop => counter::plan(job, &mut memory, cas_loop::body),
        Workload::LlSc => counter::plan(job, &mut memory, ll_sc::body),
        Workload::RefcountCasFull => refcount::cas_full(job, &mut memory),
        Workload::Refcount => refcount::refcount(job, &mut memory),
        Workload::Rcuref => refcount::rcuref(job, &mut memory),
        Workload::IncNotZero => refcount::inc_not_zero(job, &mut memory),
        Workload::LockrefUnbounded | Workload::Lockref | Workload::LockrefLocked => lockref::plan(job, &mut memory),
        Workload::LockrefAdaptive => adaptive::plan(job, &mut memory),
        Workload::LockMcs => lock::mcs::plan(job, &mut memory),
        Workload::LockQueued => lock::queued(job, &mut memory),
        Workload::LockQspinlock => lock::qspinlock(job, &mut memory),
        Workload::LockTicket => lock::ticket::plan(job, &mut memory),
        Workload::LockTas | Workload::LockTtas => lock::test_and_set::plan(job, &mut memory),
        Workload::PercpuCounter => percpu::plan(job, &mut memory),
        Workload::OpenReadClose
        | Workload::OpenReadCloseFull
        | Workload::OpenReadCloseQueued
        | Workload::OpenReadCloseQueuedFull
        | Workload::OpenReadCloseThreads
        | Workload::OpenReadCloseThreadsQueued => open_read_close::plan(job, &mut memory),
    };
    Plan {
        memory,
        start,
        read: reader::plan(),
        after,
    }
}

/// A start for a function that gets its own copy of what it shares.
fn start<S: Clone + 'static, F: Future<Output = ()> + 'static>(shared: S, body: fn(Cpu, S) -> F) -> Start {
    Box::new(move |cpu| Box::pin(body(cpu, shared.clone())))
}

/// What is to be found in a line's low half.
fn low(line: Line, value: u64) -> Holds {
    Holds {
        line,
        mask: LOW,
        value: value & LOW,
    }
}

/// The half of a line that holds a count or data, beside a lock in the other.
const LOW: u64 = 0xffff_ffff;
