//! Where a published machine's transfer times come from.
//!
//! A matrix is a ping-pong of two threads, mostly of a sister machine, and at another clock: of Skylake's client processors with the same
//! ring, additions take 14 to 24 ns under contention. So where additions move the line, one contended row of additions gives the time
//! of a transfer, and the matrix only how distances compare. The row is then known, and is neither learned from nor examined.
//!
//! Where additions are executed at the home, they say nothing about transfers, and the machine's own matrix does.

use super::build::{job, machine};
use super::data::{MatrixIs, PublishedMachine, PublishedRow};
use super::laws::Laws;
use super::{Group, Pattern, Reach, WorkloadKind};
use crate::predict::{Prediction, predict};
use crate::{Job, Machine, Relax, Workload, simulate};

/// Where the transfer times come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transfers {
    /// From the matrix as it is.
    Matrix,
    /// From the matrix, times what makes a row come out as published.
    Row {
        /// The row's number among the machine's rows.
        number: usize,
        /// The row.
        row: PublishedRow,
    },
}

impl Transfers {
    /// The number of the row that they come from.
    pub const fn number(self) -> Option<usize> {
        match self {
            Self::Matrix => None,
            Self::Row { number, .. } => Some(number),
        }
    }
}

impl PublishedMachine {
    /// Where its transfer times come from; `None` if neither a contended row of additions nor a matrix of its own gives them.
    pub fn transfers(&self) -> Option<Transfers> {
        if self.matrix_is == MatrixIs::SameCore {
            return None;
        }
        let anchor = if self.far_additions { None } else { self.anchor() };
        let own = (self.matrix_is == MatrixIs::Own).then_some(Transfers::Matrix);
        anchor.map(|(number, row)| Transfers::Row { number, row }).or(own)
    }

    /// Its rows of two and more threads, with their groups; without the row that its transfer times come from.
    pub fn contended(&self) -> impl Iterator<Item = (Group, PublishedRow)> {
        let machine = machine(self);
        let known = self.transfers().and_then(Transfers::number);
        let is_asked = move |(number, row): &(usize, PublishedRow)| row.threads > 1 && known != Some(*number);
        self.rows().enumerate().filter(is_asked).filter_map(move |(_, row)| {
            let reach = Reach::of(&machine, &job(self, &row));
            let pattern = Pattern::of(row.workload)?;
            Some((Group { pattern, reach }, row))
        })
    }

    /// The row of additions with the fewest threads that are on several cores; of those with as many, the one with the least other work.
    /// Both a counter and a reference count are additions. Between sockets it gives the scale of transfers within one too.
    fn anchor(&self) -> Option<(usize, PublishedRow)> {
        let plain = machine(self);
        let is_additions = |row: &PublishedRow| Pattern::of(row.workload) == Some(Pattern::Addition);
        let moves = |row: &PublishedRow| Reach::cores(&plain, &job(self, row)) > 1;
        let work = |row: &PublishedRow| row.critical_ns + row.parallel_ns;
        self.rows()
            .enumerate()
            .filter(|(_, row)| is_additions(row) && moves(row))
            .min_by(|(_, a), (_, b)| a.threads.cmp(&b.threads).then(work(a).total_cmp(&work(b))))
    }
}

/// A published machine under some laws, ready to predict its rows.
#[derive(Clone, Debug)]
pub(super) struct Anchored<'a> {
    published: &'a PublishedMachine,
    machine: Machine,
    /// Whether the row gives about the transfer times that the matrix has.
    agrees: bool,
    /// For each lock, the time of an operation of one thread that the program has and the model's does not.
    overheads: Vec<(Workload, Relax, f64)>,
}

/// The machine with these laws, and its transfer times; `None` if nothing gives them, or none gives the row.
pub(super) fn anchored<'a>(published: &'a PublishedMachine, laws: &Laws) -> Option<Anchored<'a>> {
    let plain = machine(published);
    let (machine, factor) = match published.transfers()? {
        Transfers::Matrix => (laws.apply(&plain), 1.0),
        Transfers::Row { row, .. } => scaled_to(&plain, laws, &job(published, &row), row.ns)?,
    };
    let overheads = overheads(published, &machine);
    Some(Anchored {
        published,
        machine,
        agrees: agrees(factor),
        overheads,
    })
}

impl Anchored<'_> {
    /// Whether rows of a pattern can be predicted.
    pub(super) fn knows(&self, pattern: Pattern) -> bool {
        self.agrees || !pattern.is_handed_on()
    }

    /// The prediction of a row; `None` if the program makes no progress under these laws.
    pub(super) fn predict(&self, row: &PublishedRow) -> Option<Prediction> {
        predict(&self.machine, &self.job(row)).ok()
    }

    /// The same by one run.
    pub(super) fn simulate(&self, row: &PublishedRow) -> Option<f64> {
        let outcome = simulate(&self.machine, &self.job(row)).ok()?;
        Some(outcome.ns_per_op)
    }

    fn job(&self, row: &PublishedRow) -> Job {
        let mut row = *row;
        let same = |(workload, relax, _): &&(Workload, Relax, f64)| (*workload, *relax) == (row.workload, row.relax);
        row.parallel_ns += self.overheads.iter().find(same).map_or(0.0, |(_, _, ns)| *ns);
        job(self.published, &row)
    }
}

/// What rows of one thread have more than the simulation of them, by lock. Costs of instructions come from other workloads.
fn overheads(published: &PublishedMachine, machine: &Machine) -> Vec<(Workload, Relax, f64)> {
    let is_lock = |row: &PublishedRow| row.threads == 1 && WorkloadKind::of(row.workload) == Some(WorkloadKind::Lock);
    let overhead = |row: PublishedRow| {
        let seen = simulate(machine, &job(published, &row)).ok()?;
        Some((row.workload, row.relax, (row.ns - seen.ns_per_op).max(0.0)))
    };
    published.rows().filter(is_lock).filter_map(overhead).collect()
}

/// The range in which the factor of the transfer times is searched.
pub(super) const LEAST: f64 = 1.0 / 16.0;
pub(super) const MOST: f64 = 4.0;

/// The factor is found to a hundredth.
const STEPS: u32 = 9;

/// How near the row must come out. Where an owner works while requests travel, its time hardly depends on the transfer's any more, and a row
/// above what it can reach is not met.
const MET: f64 = 0.05;

/// A factor farther from 1 than this, either way: the row and the matrix disagree about what a transfer is.
pub(crate) const DISAGREE: f64 = 1.5;

/// Whether transfers that are so many times the matrix's are about the matrix's.
pub(super) fn agrees(factor: f64) -> bool {
    (1.0 / DISAGREE..=DISAGREE).contains(&factor)
}

/// Bisects the factor of the transfer times until the row's time comes out, and gives it too; `None` if it does not.
pub(crate) fn scaled_to(plain: &Machine, laws: &Laws, job: &Job, ns: f64) -> Option<(Machine, f64)> {
    let exchange = f64::from(plain.cost.cas_cycles) / plain.ghz;
    let with = |factor: f64| {
        let mut machine = plain.clone();
        machine.latency = plain.latency.scaled(exchange, factor);
        laws.apply(&machine)
    };
    let (mut low, mut high) = (LEAST, MOST);
    for _ in 0..STEPS {
        let middle = f64::sqrt(low * high);
        let is_slow = simulate(&with(middle), job).map_or(true, |outcome| outcome.ns_per_op > ns);
        if is_slow {
            high = middle;
        } else {
            low = middle;
        }
    }
    let factor = f64::sqrt(low * high);
    let found = with(factor);
    let seen = simulate(&found, job).ok()?.ns_per_op;
    ((seen / ns - 1.0).abs() <= MET).then_some((found, factor))
}
