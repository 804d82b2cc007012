//! The workloads' programs: the algorithms of the library or of the kernel, written to read like them.
//!
//! A program is an `async` function of a [`Cpu`] that runs until the run is over. It reports when an operation begins and ends,
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

use crate::engine::{ALL, Cpu, Line, Program};
use crate::workload::{Job, Workload};

/// The initial memory.
#[derive(Debug, Default)]
pub(crate) struct Memory(Vec<u64>);

impl Memory {
    /// Allocates a line with an initial value.
    fn line(&mut self, value: u64) -> Line {
        let number = self.line_count();
        self.0.push(value);
        Line(number)
    }

    /// Allocates a number of lines with an initial value.
    fn lines(&mut self, count: u32, value: u64) -> Lines {
        let first = self.line_count();
        (0..count).for_each(|_| {
            self.line(value);
        });
        Lines { first, count }
    }

    fn line_count(&self) -> u32 {
        u32::try_from(self.0.len()).expect("some lines for each thread")
    }

    /// The initial value of each line.
    pub(crate) fn values(&self) -> &[u64] {
        &self.0
    }
}

/// Consecutive lines. Each thread has a copy of its program's state, so a list of lines in it would take memory that grows with the
/// square of the threads.
#[derive(Clone, Copy, Debug)]
struct Lines {
    first: u32,
    count: u32,
}

impl Lines {
    /// No line.
    const NONE: Self = Self { first: 0, count: 0 };

    /// The line of this index, from 0.
    fn at(self, index: u32) -> Line {
        assert!(index < self.count, "line {index} of {}", self.count);
        Line(self.first + index)
    }

    fn iter(self) -> impl Iterator<Item = Line> {
        (self.first..self.first + self.count).map(Line)
    }
}

/// The expected value of a line's masked bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExpectedValue {
    pub(crate) line: Line,
    pub(crate) mask: u64,
    pub(crate) value: u64,
}

/// Starts a program on a CPU.
type Start = Box<dyn Fn(Cpu) -> Program>;
/// The expected values of lines after a number of finished operations.
type Expected = Box<dyn Fn(u64) -> Vec<ExpectedValue>>;

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
        | Workload::OpenReadCloseFull
        | Workload::OpenReadCloseQueued
        | Workload::OpenReadCloseQueuedFull
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

/// Starts `body` with its own clone of `state`.
fn start<S: Clone + 'static, F: Future<Output = ()> + 'static>(state: S, body: fn(Cpu, S) -> F) -> Start {
    Box::new(move |cpu| Box::pin(body(cpu, state.clone())))
}

/// The expected value of a whole line: the number of finished operations.
fn counts_operations(line: Line) -> Expected {
    Box::new(move |ops| {
        vec![ExpectedValue {
            line,
            mask: ALL,
            value: ops,
        }]
    })
}

/// The expected value of a line's low half.
fn low(line: Line, value: u64) -> ExpectedValue {
    ExpectedValue {
        line,
        mask: LOW,
        value: value & LOW,
    }
}

/// The half of a line for a count or data; a lock may be in the other half.
const LOW: u64 = 0xffff_ffff;
