//! Simulated sweeps: the JSON schema `cyclewise.simulation/1`.
//!
//! A document contains the parameters of the whole sweep, including the machines, and the computed points: all, or those of
//! one shard. It contains nothing that differs between runs, so the same sweep gives the same bytes.
//!
//! # Invariants
//! 1. A point's index is its position in the sweep's order: machine, workload, retry limit, relax, threads.
//! 2. Which points a shard has follows from the sweep and the number of shards, as `shard` says.

mod shard;
mod stream;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub(crate) use shard::due;
pub use shard::{Shard, Shards};
pub use stream::{Head, PointReader};

use crate::band::Band;
use crate::predict::Range;
use crate::{Job, Length, Machine, Outcome, Placement, Relax, Workload};
use cyclewise_bench::error::{Error, Result};
use cyclewise_bench::record::Tool;
use cyclewise_bench::record::fleet::Fault;
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = cyclewise_bench::record::SIMULATION_SCHEMA;

/// The maximum number of points: a day's work for a hundred cores, so more are probably a mistake.
pub const MOST_POINTS: usize = 10_000_000;

/// What a point says that a signal left out, before the signal's name: its document is not whole.
pub(crate) const NOT_SIMULATED: &str = "not simulated before ";

/// Uncounted operations per thread where `--ops` fixes the length.
const WARM_UP_PER_THREAD: u64 = 10;

/// A sweep and its results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The parameters.
    pub sweep: Sweep,
    /// The shard that this is; `None` for the whole sweep.
    pub shard: Option<Shard>,
    /// The points, in the order of their indices.
    pub points: Vec<Point>,
}

/// The parameters of a sweep, varied and fixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The machines in full, so that a document is self-contained.
    pub machines: Vec<Machine>,
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// Thread counts, ascending.
    pub threads: Vec<u32>,
    /// Retry limits; `null` is no limit. A workload without a retry limit is simulated once.
    pub retry_limits: Vec<Option<u32>>,
    /// Relax policies between tries.
    pub relax: Vec<Relax>,
    /// Work inside a critical section, in cycles.
    pub critical_cycles: u32,
    /// Work between operations, in cycles; if `null`, each workload's own.
    pub parallel_cycles: Option<u32>,
    /// Which CPUs have threads.
    pub placement: Placement,
    /// Threads that only read.
    pub readers: u32,
    /// Operations measured at each point; if `null`, as many as it takes until throughput is stationary.
    pub ops: Option<u64>,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// A job, and either its outcome or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Its position in the sweep (Invariant 1).
    pub index: usize,
    /// Index of its machine in the sweep.
    pub machine: usize,
    /// The simulated job.
    pub job: Job,
    /// The outcome of the prediction's run in the middle.
    pub outcome: Option<Outcome>,
    /// Between which times the prediction is; absent in documents from before there was a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// By how much its times may be off: the model's errors on rows of the machine that no law was fitted to. Absent where there are too
    /// few such rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// Why there is no outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Point {
    /// Whether a signal left it out.
    pub(crate) fn is_left_out(&self) -> bool {
        self.refused.as_ref().is_some_and(|why| why.starts_with(NOT_SIMULATED))
    }
}

impl Sweep {
    /// The job at this index (Invariant 1), which is less than [`Sweep::points`], with the index of its machine.
    pub fn job_at(&self, index: usize) -> (usize, Job) {
        let (index, threads) = divide(index, self.threads.len());
        let (index, relax) = divide(index, self.relax.len());
        let limits = |w: &Workload| {
            if w.takes_retry_limit() {
                self.retry_limits.len()
            } else {
                1
            }
        };
        let (machine, mut row) = divide(index, self.workloads.iter().map(limits).sum());
        let mut workload = self.workloads[0];
        for each in &self.workloads {
            workload = *each;
            if row < limits(each) {
                break;
            }
            row -= limits(each);
        }
        let limit = if workload.takes_retry_limit() {
            self.retry_limits[row]
        } else {
            None
        };
        (
            machine,
            self.job(workload, self.threads[threads], limit, self.relax[relax]),
        )
    }

    /// All jobs in the order of the points (Invariant 1), each with the index of its machine.
    pub fn jobs(&self) -> Vec<(usize, Job)> {
        (0..self.points()).map(|index| self.job_at(index)).collect()
    }

    /// The number of jobs, without allocating them.
    pub fn points(&self) -> usize {
        let limited = self.workloads.iter().filter(|w| w.takes_retry_limit()).count();
        let rows = limited * self.retry_limits.len() + (self.workloads.len() - limited);
        [self.relax.len(), self.threads.len(), self.machines.len()]
            .iter()
            .fold(rows, |n, m| n.saturating_mul(*m))
    }

    fn job(&self, workload: Workload, threads: u32, retry_limit: Option<u32>, relax: Relax) -> Job {
        let each = u64::from(threads);
        let length = self.ops.map_or(Length::STEADY, |measured| {
            Length::operations(WARM_UP_PER_THREAD * each, measured)
        });
        let job = Job::new(workload, threads);
        Job {
            retry_limit,
            relax,
            critical_cycles: self.critical_cycles,
            parallel_cycles: self.parallel_cycles.unwrap_or(job.parallel_cycles),
            placement: self.placement,
            readers: self.readers,
            seed: self.seed,
            length,
            ..job
        }
    }

    /// The work between operations, in words.
    pub fn parallel_words(&self) -> String {
        self.parallel_cycles
            .map_or_else(|| "the workload's own".to_owned(), |cycles| format!("{cycles} cycles"))
    }
}

/// Parses a simulation; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is not a simulation, of a newer version, or modified after it was written.
pub fn from_str(name: &str, text: &str) -> Result<Simulation> {
    cyclewise_bench::record::check_schema(name, text, SCHEMA, "cyclewise simulate --json")
        .map_err(Error::in_one_line)?;
    let read = PointReader::new(text.as_bytes()).and_then(PointReader::all);
    read.map_err(|Fault(_, why)| Error::usage(format!("{name}: {why}")).in_one_line())
}

/// What shows that `point` is not the one with the index `due` of `sweep`, or not whole.
fn wrong(sweep: &Sweep, point: &Point, due: usize) -> Option<String> {
    let (machine, job) = sweep.job_at(due);
    if point.index != due || (point.machine, &point.job) != (machine, &job) {
        return Some(format!("point {} is not point {due} of its sweep", point.index));
    }
    (point.outcome.is_some() == point.refused.is_some())
        .then(|| format!("point {due} must have either an outcome or a reason for none"))
}

/// Quotient and remainder.
fn divide(n: usize, by: usize) -> (usize, usize) {
    (n / by, n % by)
}
