//! What a machine is fitted to, and what comes of it.

use crate::machine::Latency;
use crate::{Job, Machine, Relax, Topology, Workload};

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
    pub isa: String,
    /// Cycles of PAUSE or YIELD, which differ between cores by a factor of ten.
    pub pause_cycles: u32,
    /// The topology.
    pub topology: Topology,
    /// One-way transfer times, measured by a ping-pong of exchanges.
    pub latency: Latency,
    /// Rows of contended operations.
    pub rows: Vec<MeasuredRow>,
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

impl MeasuredRow {
    /// The job that this row measures.
    pub fn job(&self) -> Job {
        let mut job = Job::new(self.workload, self.threads);
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
