//! Fits a machine to measurements: transfer times by distance, and contended rows of `fetch_add` and of an exchange loop.
//!
//! # Procedure
//! 1. Costs come from the one-thread rows: for `fetch_add`, a step and a read-modify-write; for the exchange loop, a load, two steps
//!    and an exchange. Without the latter row, the exchange costs as much as the read-modify-write.
//! 2. The instruction set determines whether a failed exchange takes the line, and the cost of PAUSE.
//! 3. The laws are searched: every arbiter, hold and probe share of fixed lists is simulated on every row, and for the best ones
//!    the transfer times are scaled to match the rows.
//!
//! A candidate's badness is a sum: the squared logarithm of simulated by measured time for each row, in units of 10 %, which is
//! the spread between runs; the squared logarithm of the scale, in the same unit, because transfers are measured too; and one for
//! each law beyond the simplest. Of equal candidates, the first in the list wins. Nothing is random, so the same measurements give
//! the same machine.
//!
//! # Limits
//! Rows of `fetch_add` show how long a line moves and stays. They do not depend on the arbiter, because any next thread adds one; first
//! come, first served is then assumed. Rows of exchanges distinguish arbiters.

mod search;
#[cfg(test)]
mod tests;

use crate::machine::{Cost, Distance, FailedCas, FirstAccess, Hold, Latency, LineRules, ParseError, Rmw};
#[cfg(test)]
use crate::simulate;
use crate::{Job, Machine, Placement, Topology, Workload};
use std::fmt;

/// Measurements of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// The machine's name.
    pub name: String,
    /// What the machine is, and the sources of the figures.
    pub about: String,
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
    /// x86-64. PAUSE takes 140 cycles since Skylake, 15 before, 64 on Zen.
    X86 {
        /// Cycles of PAUSE.
        pause_cycles: u32,
    },
    /// YIELD is a NOP, and there is LL/SC.
    Aarch64,
}

/// A measured figure of a contended operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRow {
    /// [`Workload::FetchAdd`] or [`Workload::CasLoop`].
    pub workload: Workload,
    /// Threads, each on a CPU of its own.
    pub threads: u32,
    /// How threads are placed on CPUs.
    pub placement: Placement,
    /// Elapsed time per operation of all threads.
    pub ns_per_op: f64,
}

/// A fitted machine, and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The machine; `fitted` lists the searched values.
    pub machine: Machine,
    /// Each row with its simulated ns/op.
    pub rows: Vec<(MeasuredRow, f64)>,
    /// The factor by which transfer times were scaled; 1 if rows and transfers agree.
    pub scale: f64,
    /// The number of simulated jobs.
    pub simulated: u32,
}

/// Why no machine can be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There is no `fetch_add` row with one thread, so the operation's own cost is unknown.
    NoSingle,
    /// There is no `fetch_add` row with more threads, so the cost of a moving line is unknown.
    NoContended,
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
            Self::BadRow { row } => write!(
                f,
                "row {row} is not usable: it needs fetch-add or cas-loop, 1 thread up to the machine's CPUs, and a time above 0"
            ),
            Self::Machine(error) => write!(f, "these figures do not give a valid machine: {error}"),
        }
    }
}

impl std::error::Error for FitError {}

/// By how much a law beyond the simplest must reduce the badness.
const LAW: f64 = 1.0;

/// Fits a machine to measurements (see the module).
///
/// # Errors
/// [`FitError`] if a required figure is missing or invalid.
pub fn fit(measured: &Measurements) -> Result<Fit, FitError> {
    let base = base(measured)?;
    // Report broken rules before the search, which takes a while.
    base.to_toml().map_err(FitError::Machine)?;
    check(measured)?;
    let fit = search::search(&base, &measured.rows);
    fit.machine.to_toml().map_err(FitError::Machine)?;
    Ok(fit)
}

fn check(measured: &Measurements) -> Result<(), FitError> {
    let cpus = measured.topology.cpus();
    for (index, row) in measured.rows.iter().enumerate() {
        let is_known = matches!(row.workload, Workload::FetchAdd | Workload::CasLoop);
        let is_time = row.ns_per_op.is_finite() && row.ns_per_op > 0.0;
        if !is_known || !is_time || row.threads == 0 || row.threads > cpus {
            return Err(FitError::BadRow { row: index + 1 });
        }
    }
    let is_contended = |row: &MeasuredRow| row.workload == Workload::FetchAdd && row.threads > 1;
    if measured.rows.iter().any(is_contended) {
        Ok(())
    } else {
        Err(FitError::NoContended)
    }
}

/// The time of the one-thread row.
fn single(measured: &Measurements, workload: Workload) -> Option<f64> {
    let row = measured
        .rows
        .iter()
        .find(|row| row.workload == workload && row.threads == 1);
    row.map(|row| row.ns_per_op)
}

/// A plain step between two accesses: an increment or compare, and a branch.
const ALU_CYCLES: u32 = 2;

/// By how much a step's time varies. It keeps threads from running in lockstep, as on real machines; outcomes hardly depend on its
/// size.
const JITTER: f64 = 0.1;

/// The machine with all costs, and the simplest laws.
fn base(measured: &Measurements) -> Result<Machine, FitError> {
    let cycles = |ns: f64| ns * measured.ghz;
    let add = cycles(single(measured, Workload::FetchAdd).ok_or(FitError::NoSingle)?);
    let rmw_cycles = whole(add - f64::from(ALU_CYCLES));
    let load = cycles(measured.latency.hit_ns) + f64::from(2 * ALU_CYCLES);
    let cas_cycles = single(measured, Workload::CasLoop).map_or(rmw_cycles, |ns| whole(cycles(ns) - load));
    let (pause_cycles, ll_sc_cycles) = match measured.isa {
        Isa::X86 { pause_cycles } => (pause_cycles, rmw_cycles),
        // A pair costs as much as one atomic.
        Isa::Aarch64 => (1, (rmw_cycles / 2).max(1)),
    };
    let is_arm = measured.isa == Isa::Aarch64;
    Ok(Machine {
        name: measured.name.clone(),
        about: measured.about.clone(),
        ghz: measured.ghz,
        topology: measured.topology,
        latency: ordered(measured.latency),
        line: LineRules {
            arbiter: crate::machine::Arbiter::Fifo,
            hold: Hold::None,
            first_access: FirstAccess::Shared,
            failed_cas: FailedCas::TakesOwnership,
            rmw: Rmw::Near,
            home: crate::machine::Home::Anywhere,
            ll_first_access: is_arm.then_some(FirstAccess::Exclusive),
            ll_hold: is_arm.then_some(Hold::Fixed { cycles: LL_HOLD }),
            probe_share: 0.0,
        },
        cost: Cost {
            alu_cycles: ALU_CYCLES,
            store_cycles: 1,
            rmw_cycles,
            cas_cycles,
            ll_sc_cycles,
            pause_cycles,
            read_cycles: 0,
            invalidate_cycles: 0,
            jitter: JITTER,
        },
        fitted: Vec::new(),
        published: Vec::new(),
    })
}

/// How long a line stays for a store-exclusive: enough for a pair with a step in between.
const LL_HOLD: u32 = 64;

/// Whole cycles, at least one.
fn whole(cycles: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and rules are checked later"
    )]
    let whole = cycles.round() as u32;
    whole.max(1)
}

impl MeasuredRow {
    /// The job that this row measures.
    #[must_use]
    pub fn job(&self) -> Job {
        let mut job = Job::new(self.workload, self.threads);
        job.placement = self.placement;
        job
    }
}

/// How much slower than a farther class a nearer one may be by chance.
const DISORDER: f64 = 1.1;

/// Latencies in order: a class that is slightly faster than a nearer one gets the same value.
fn ordered(mut latency: Latency) -> Latency {
    let mut nearer = latency.hit_ns;
    let classes = [
        &mut latency.sibling_ns,
        &mut latency.cluster_ns,
        &mut latency.socket_ns,
        &mut latency.remote_ns,
    ];
    for ns in classes.into_iter().flatten() {
        if *ns < nearer && *ns * DISORDER >= nearer {
            *ns = nearer;
        }
        nearer = *ns;
    }
    latency
}

/// Scales the given latency classes by `by`.
fn scaled(latency: Latency, exchange_ns: f64, by: f64) -> Latency {
    // The exchange is not part of the transfer, so it is not scaled.
    // A tenth of a nanosecond is more than the measurements' precision.
    let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
    // Siblings do not move lines, so their latency is not scaled; farther classes are not faster.
    let least = latency.sibling_ns.unwrap_or(0.0).max(latency.hit_ns);
    let class =
        |ns: Option<f64>| ns.map(|ns| tenths((ns - exchange_ns).max(0.0) * by + exchange_ns.min(ns)).max(least));
    Latency {
        hit_ns: latency.hit_ns,
        sibling_ns: latency.sibling_ns,
        cluster_ns: class(latency.cluster_ns),
        socket_ns: class(latency.socket_ns),
        remote_ns: class(latency.remote_ns),
    }
}

/// The names of the given latencies that are scaled.
fn scaled_names(latency: &Latency) -> Vec<String> {
    let classes = [
        ("latency.cluster_ns", latency.cluster_ns),
        ("latency.socket_ns", latency.socket_ns),
        ("latency.remote_ns", latency.remote_ns),
    ];
    classes
        .iter()
        .filter(|(_, ns)| ns.is_some())
        .map(|(name, _)| (*name).to_owned())
        .collect()
}

/// The farthest distance between two threads of a row: nearest-first arbitration needs several distances.
fn reach(topology: Topology, rows: &[MeasuredRow]) -> Distance {
    let most = rows.iter().map(|row| row.threads).max().unwrap_or(1);
    let cores = most.min(topology.cores());
    let last = (cores.max(1) - 1) * topology.threads_per_core;
    topology.distance(0, last).max(if most > cores {
        Distance::Sibling
    } else {
        Distance::Same
    })
}
