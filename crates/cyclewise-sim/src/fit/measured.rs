//! What a machine is fitted to, what comes of it, and why it may not.

use crate::machine::{Latency, ParseError};
use crate::{Job, Machine, Placement, Relax, Topology, Workload};
use std::fmt;

/// Measurements of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The machine's name.
    pub name: String,
    /// What the machine is, and the sources of the figures.
    pub about: String,
    /// Machines with the same kind of interconnect and atomics; see [`Machine::family`].
    pub family: Option<String>,
    /// Core clock during the measurement of the rows.
    pub ghz: f64,
    /// The instruction set.
    pub isa: Isa,
    /// The topology.
    pub topology: Topology,
    /// One-way transfer times, measured by a ping-pong of exchanges.
    pub latency: Latency,
    /// Rows of contended operations.
    pub rows: Vec<MeasuredRow>,
}

/// An instruction set, for properties that all of its machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// x86-64. What PAUSE takes differs between cores by a factor of ten, so it is measured.
    X86 {
        /// Cycles of PAUSE.
        pause_cycles: u32,
    },
    /// There is LL/SC.
    Aarch64 {
        /// Cycles of YIELD, which is a NOP on most cores.
        yield_cycles: u32,
    },
}

/// A measured figure of a contended operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRow {
    /// One of [`MEASURED`].
    pub workload: Workload,
    /// Threads, each on a CPU of its own.
    pub threads: u32,
    /// What its loops do between two tries.
    pub relax: Relax,
    /// How threads are placed on CPUs.
    pub placement: Placement,
    /// Elapsed time per operation of all threads.
    pub ns_per_op: f64,
}

/// The workloads whose rows a machine can be fitted to. A lock's section is the increment of a counter on another line, and nothing
/// is done between two sections.
pub const MEASURED: &[Workload] = &[
    Workload::FetchAdd,
    Workload::CasLoop,
    Workload::LlSc,
    Workload::LockTas,
    Workload::LockTtas,
    Workload::LockTicket,
    Workload::LockMcs,
];

/// A fitted machine, and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The machine; `fitted` lists the searched values.
    pub machine: Machine,
    /// Each row with its simulated times.
    pub rows: Vec<FittedRow>,
    /// The laws, and what else would fit.
    pub laws: Vec<Law>,
    /// The factor by which transfer times were scaled; about 1 if rows and transfers agree.
    pub scale: f64,
}

/// A row, with what the fitted machine makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedRow {
    /// The row.
    pub row: MeasuredRow,
    /// Its simulated time per operation on the fitted machine, which knows the row.
    pub simulated_ns: f64,
    /// The same on a machine fitted without the row and those of its fold; `None` if a cost comes from the row.
    pub held_out_ns: Option<f64>,
}

/// A law of the fitted machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Law {
    /// Its dotted key.
    pub key: &'static str,
    /// Whether the rows tell it: any other value gives them worse.
    pub is_told: bool,
}

/// Why no machine can be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There is no `fetch_add` row with one thread, so the operation's own cost is unknown.
    NoSingle,
    /// There is no `fetch_add` row with more threads, so the cost of a moving line is unknown.
    NoContended,
    /// No transfer times give the row of `fetch_add` with the fewest threads, under any laws.
    NoScale,
    /// No row has three threads.
    TwoThreads,
    /// A row has no positive time, 0 threads or more than the machine's CPUs, or another workload.
    BadRow {
        /// Its number, from 1.
        row: usize,
    },
    /// The machine breaks a rule of machine files.
    Machine(ParseError),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSingle => {
                f.write_str("no row of fetch-add with 1 thread: measure one, for the cost of the operation")
            }
            Self::NoContended => {
                f.write_str("no row of fetch-add with 2 or more threads: measure one, for the cost of moving the line")
            }
            Self::NoScale => f.write_str(
                "no transfer times give the row of fetch-add with the fewest threads: measure again, with nothing else on the machine",
            ),
            Self::TwoThreads => f.write_str(
                "no row has 3 threads: with two CPUs only one request ever waits, so the arbiter cannot be told; measure on a machine of \
                 at least 3 CPUs",
            ),
            Self::BadRow { row } => {
                write!(f, "row {row} is not usable: it needs 1 thread up to the machine's CPUs, a time above 0, and one of")?;
                let mut separator = " ";
                for workload in MEASURED {
                    write!(f, "{separator}{workload}")?;
                    separator = ", ";
                }
                Ok(())
            }
            Self::Machine(error) => write!(f, "these figures do not give a valid machine: {error}"),
        }
    }
}

impl std::error::Error for FitError {}

impl MeasuredRow {
    /// The job that this row measures.
    pub fn job(&self) -> Job {
        let mut job = Job::new(self.workload, self.threads);
        job.placement = self.placement;
        job.relax = self.relax;
        job
    }

    /// Whether threads wait for each other.
    pub(super) fn is_contended(&self) -> bool {
        self.threads > 1
    }

    /// Whether a cost is taken from the row, so that no machine is independent of it.
    pub(super) fn gives_a_cost(&self) -> bool {
        self.threads == 1 && matches!(self.workload, Workload::FetchAdd | Workload::CasLoop | Workload::LlSc)
    }
}
