//! The JSON of simulated sweeps, as `cyclewise.simulation/1` promises it to scripts.
//!
//! A document holds the whole sweep that was asked for, machines included, and the points that were computed: all of them,
//! or those of one shard. It holds nothing that differs from run to run, so that the same sweep gives the same bytes.
//!
//! # Invariants
//! 1. A point's index is its place in the sweep's order: machine, workload, retry limit, relax, threads.
//! 2. Point i of a sweep is in shard i mod N + 1 of N.

use super::Tool;
use crate::error::{Error, Result};
use cyclewise_sim::{Job, Length, Machine, Outcome, Placement, Relax, Workload};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.simulation/1";

/// More points than this are a mistake in a list: a day's work for a hundred cores.
pub const MOST_POINTS: usize = 10_000_000;

/// Operations of a point, at least: a percentile of a thousand is one of some.
const OPERATIONS: u64 = 2_000;
/// Of each thread, where there are many. A loop without a limit takes a retry for each other thread, so that a sweep's time
/// grows with the cube of its threads; a model without noise needs no more.
const OPERATIONS_OF_THREAD: u64 = 30;
/// Not counted: what it takes to get from a common start into the long run.
const WARM_UP_OF_THREAD: u64 = 10;

/// A sweep, and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulation {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// What wrote it.
    pub tool: Tool,
    /// What was asked.
    pub sweep: Sweep,
    /// Which part of it this is; `None` for all of it.
    pub shard: Option<Shard>,
    /// The points, in the order of their indices.
    pub points: Vec<Point>,
}

/// Everything that is varied, and everything that is not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Machines in full, so that a document needs no file beside it.
    pub machines: Vec<Machine>,
    /// Workloads.
    pub workloads: Vec<Workload>,
    /// Counts of threads, ascending.
    pub threads: Vec<u32>,
    /// Retry limits; `null` is no limit. A workload that takes none is simulated once.
    pub retry_limits: Vec<Option<u32>>,
    /// What loops do between tries.
    pub relax: Vec<Relax>,
    /// Work inside a section, in cycles.
    pub critical_cycles: u32,
    /// Work between operations, in cycles.
    pub parallel_cycles: u32,
    /// Which CPUs threads are put on.
    pub placement: Placement,
    /// Threads that only read.
    pub readers: u32,
    /// Operations measured at each point; `null` lets it grow with the threads.
    pub ops: Option<u64>,
    /// Where randomness starts.
    pub seed: u64,
}

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub count: u32,
}

impl Shard {
    /// Whether the point of this index is in it (Invariant 2).
    pub fn holds(self, point: usize) -> bool {
        point % self.count as usize == self.index as usize - 1
    }
}

/// One job, and its outcome or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Its place in the sweep (Invariant 1).
    pub index: usize,
    /// Index of its machine in the sweep.
    pub machine: usize,
    /// What was simulated.
    pub job: Job,
    /// What came of it.
    pub outcome: Option<Outcome>,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

impl Sweep {
    /// Every job, in the order of the points (Invariant 1): index of its machine, and the job.
    pub fn jobs(&self) -> Vec<(usize, Job)> {
        let mut jobs = Vec::new();
        for machine in 0..self.machines.len() {
            for workload in &self.workloads {
                let none = [None];
                let limits: &[Option<u32>] = if workload.takes_retry_limit() {
                    &self.retry_limits
                } else {
                    &none
                };
                for limit in limits {
                    for relax in &self.relax {
                        jobs.extend(
                            self.threads
                                .iter()
                                .map(|threads| (machine, self.job(*workload, *threads, *limit, *relax))),
                        );
                    }
                }
            }
        }
        jobs
    }

    /// How many jobs there are, without making them.
    pub fn points(&self) -> usize {
        let limited = self.workloads.iter().filter(|w| w.takes_retry_limit()).count();
        let rows = limited * self.retry_limits.len() + (self.workloads.len() - limited);
        [self.relax.len(), self.threads.len(), self.machines.len()]
            .iter()
            .fold(rows, |n, m| n.saturating_mul(*m))
    }

    fn job(&self, workload: Workload, threads: u32, retry_limit: Option<u32>, relax: Relax) -> Job {
        let share = u64::from(threads);
        let length = Length::Operations {
            warm_up: WARM_UP_OF_THREAD * share,
            measured: self.ops.unwrap_or(OPERATIONS.max(OPERATIONS_OF_THREAD * share)),
        };
        Job {
            retry_limit,
            relax,
            critical_cycles: self.critical_cycles,
            parallel_cycles: self.parallel_cycles,
            placement: self.placement,
            readers: self.readers,
            seed: self.seed,
            length,
            ..Job::new(workload, threads)
        }
    }
}

/// Reads a simulation from `text`; `name` is what the error calls it.
///
/// # Errors
/// Exit 2, with the name: not a simulation, a newer version's, or changed after it was written.
pub fn from_str(name: &str, text: &str) -> Result<Simulation> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Simulation> {
    super::load::check_schema(name, text, SCHEMA, "cyclewise simulate --json")?;
    let simulation: Simulation = serde_json::from_str(text).map_err(|e| {
        Error::usage(format!(
            "{name} says {SCHEMA} but breaks it: {e}; write it again with `cyclewise simulate --json`"
        ))
    })?;
    check(name, &simulation)?;
    Ok(simulation)
}

/// What the types cannot say: that the points are those of the sweep.
fn check(name: &str, simulation: &Simulation) -> Result<()> {
    let changed = |what: String| {
        Err(Error::usage(format!(
            "{name}: {what}; the file was changed after it was written"
        )))
    };
    // A short text can ask for more jobs than memory holds.
    let points = simulation.sweep.points();
    if points > MOST_POINTS {
        return changed(format!("its sweep has {points} points, of {MOST_POINTS} at most"));
    }
    let jobs = simulation.sweep.jobs();
    let shard = simulation.shard.unwrap_or(Shard { index: 1, count: 1 });
    if shard.count == 0 || shard.index == 0 || shard.index > shard.count {
        return changed(format!("there is no shard {} of {}", shard.index, shard.count));
    }
    let due: Vec<usize> = (0..jobs.len()).filter(|i| shard.holds(*i)).collect();
    if due.len() != simulation.points.len() {
        return changed(format!(
            "holds {} points where its sweep has {}",
            simulation.points.len(),
            due.len()
        ));
    }
    for (point, due) in simulation.points.iter().zip(due) {
        if point.index != due || (point.machine, &point.job) != (jobs[due].0, &jobs[due].1) {
            return changed(format!(
                "point {} is not the one that its sweep has at {due}",
                point.index
            ));
        }
        if point.outcome.is_some() == point.refused.is_some() {
            return changed(format!(
                "point {} has to have either an outcome or a refusal",
                point.index
            ));
        }
    }
    Ok(())
}
