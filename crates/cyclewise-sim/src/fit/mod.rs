//! Makes a machine of what was measured on one: transfers by distance, and rows of `fetch_add` and of a loop of exchanges.
//!
//! # The procedure
//! 1. What one thread costs is read off: the row of `fetch_add` with one thread is a step and a read-modify-write, that of the
//!    exchange loop a load, two steps and an exchange. Where there is no such row the exchange costs what the other does.
//! 2. What an instruction set says is taken as it is: whether an exchange that fails takes the line, what PAUSE costs.
//! 3. The laws are searched for: every arbiter, hold and share of the probe of a fixed list is simulated on every row, and of
//!    the best ones the transfers are stretched or shrunk as far as the rows ask for it.
//!
//! A candidate's badness is the sum of squares of: each row's logarithm of simulated by measured, in units of 10 %, for that
//! is how far rows of two runs lie apart; the logarithm of the stretch, in the same unit, for a transfer is a measured
//! figure too; and one for each law that is more than the plainest. Of equals the first in the list wins. There is
//! nothing random in it, so the same figures give the same machine.
//!
//! # What it cannot know
//! Rows of `fetch_add` alone say how long a line moves and how long it stays. They say nothing of the arbiter, because
//! whoever comes next adds one; first come first served is then assumed. Rows of exchanges tell them apart.

mod search;
#[cfg(test)]
mod tests;

use crate::machine::{Cost, Distance, FailedCas, FirstAccess, Hold, Latency, LineRules, ParseError, Rmw};
#[cfg(test)]
use crate::simulate;
use crate::{Job, Machine, Placement, Topology, Workload};
use std::fmt;

/// What is known of a machine before it is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// Its name, for the machine file.
    pub name: String,
    /// What it is, and where the figures come from.
    pub about: String,
    /// Clock of the cores while the rows were measured.
    pub ghz: f64,
    /// Which instructions it has.
    pub isa: Isa,
    /// Where its CPUs are.
    pub topology: Topology,
    /// One-way transfers, as a ping-pong of exchanges measures them.
    pub latency: Latency,
    /// Rows of contended operations.
    pub rows: Vec<MeasuredRow>,
}

/// An instruction set, for what all of its machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// PAUSE takes so many cycles: 140 since Skylake, 15 before, 64 on Zen.
    X86 {
        /// Cycles of PAUSE.
        pause_cycles: u32,
    },
    /// YIELD is a NOP, and there is LL/SC.
    Aarch64,
}

/// One measured figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredRow {
    /// [`Workload::FetchAdd`] or [`Workload::CasLoop`].
    pub workload: Workload,
    /// Threads, each on a CPU of its own.
    pub threads: u32,
    /// Which CPUs.
    pub placement: Placement,
    /// Elapsed time per operation of all threads together.
    pub ns_per_op: f64,
}

/// A fitted machine, and how well it fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The machine; `fitted` names what was searched for.
    pub machine: Machine,
    /// Each row with what the machine makes of it.
    pub rows: Vec<(MeasuredRow, f64)>,
    /// How far all transfers were stretched: 1 where rows and transfers agree.
    pub stretch: f64,
    /// How many jobs were simulated for it.
    pub simulated: u32,
}

/// Why nothing can be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// There is no row of `fetch_add` with one thread: what the operation itself costs is unknown.
    NoSingle,
    /// There is no row of `fetch_add` with more threads: what a moving line costs is unknown.
    NoContended,
    /// A row is not a positive time, has no thread or more than the machine has CPUs, or is of another workload.
    BadRow {
        /// Which, from 1.
        row: usize,
    },
    /// The machine would break a rule of machine files.
    Machine(ParseError),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSingle => {
                f.write_str("no row of fetch-add with 1 thread: measure one, it says what the operation costs")
            }
            Self::NoContended => {
                f.write_str("no row of fetch-add with 2 or more threads: measure one, it says what a moving line costs")
            }
            Self::BadRow { row } => write!(
                f,
                "row {row} cannot be fitted to: it needs fetch-add or cas-loop, 1 thread up to the machine's CPUs, and a time above 0"
            ),
            Self::Machine(error) => write!(f, "these figures make no machine: {error}"),
        }
    }
}

impl std::error::Error for FitError {}

/// What a law that is more than the plainest has to gain before it is believed.
const LAW: f64 = 1.0;

/// Fits a machine to what was measured; the module says how.
///
/// # Errors
/// [`FitError`] where a figure that is needed is missing or makes no sense.
pub fn fit(measured: &Measurements) -> Result<Fit, FitError> {
    let base = base(measured)?;
    // A rule that these figures break is told before the search, which takes a while.
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

/// The row of one thread.
fn single(measured: &Measurements, workload: Workload) -> Option<f64> {
    let row = measured
        .rows
        .iter()
        .find(|row| row.workload == workload && row.threads == 1);
    row.map(|row| row.ns_per_op)
}

/// A plain step between two accesses: an increment or a compare, and the branch.
const ALU_CYCLES: u32 = 2;

/// By how much a step's time varies. It keeps threads from running in lockstep, which no machine does; what comes out hardly
/// depends on how large it is.
const JITTER: f64 = 0.1;

/// The machine with everything that is read off, and the plainest laws.
fn base(measured: &Measurements) -> Result<Machine, FitError> {
    let cycles = |ns: f64| ns * measured.ghz;
    let add = cycles(single(measured, Workload::FetchAdd).ok_or(FitError::NoSingle)?);
    let rmw_cycles = whole(add - f64::from(ALU_CYCLES));
    let load = cycles(measured.latency.hit_ns) + f64::from(2 * ALU_CYCLES);
    let cas_cycles = single(measured, Workload::CasLoop).map_or(rmw_cycles, |ns| whole(cycles(ns) - load));
    let (pause_cycles, ll_sc_cycles) = match measured.isa {
        Isa::X86 { pause_cycles } => (pause_cycles, rmw_cycles),
        // A pair costs what one atomic does.
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

/// How long a line stays for a store-exclusive: long enough for a pair with a step between.
const LL_HOLD: u32 = 64;

/// Whole cycles, at least one.
fn whole(cycles: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates, and rules follow"
    )]
    let whole = cycles.round() as u32;
    whole.max(1)
}

impl MeasuredRow {
    /// The job that this row is a figure of.
    #[must_use]
    pub fn job(&self) -> Job {
        let mut job = Job::new(self.workload, self.threads);
        job.placement = self.placement;
        job
    }
}

/// How much slower than a farther class a nearer one may be measured by chance.
const DISORDER: f64 = 1.1;

/// Latencies in order: a class that came out a little quicker than a nearer one is as quick.
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

/// Every class of a machine's latencies that is given, multiplied.
fn stretched(latency: Latency, exchange_ns: f64, by: f64) -> Latency {
    // The exchange is the core's, and does not stretch.
    // To a tenth of a nanosecond, which is more than is known.
    let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
    // Siblings do not move lines, so their latency stays, and the nearest that moves is no quicker.
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

/// The names of the latencies that are given and that stretch.
fn stretched_names(latency: &Latency) -> Vec<String> {
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

/// The farthest distance between two of a row's threads, for what the arbiter can tell apart.
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
