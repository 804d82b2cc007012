//! Sweeps spread over this machine's cores, in shards: points in parallel, and their results in order.
//!
//! A signal that asks for an end leaves out the points that are not begun, and says so in their place.
//!
//! Results depend only on the parameters, not on the number of cores or shards.

pub(crate) mod machines;

use crate::Job;
use crate::band::{Band, band};
use crate::exam::{Reach, predict};
use crate::predict::Prediction;
use crate::record::{NOT_SIMULATED, Point, SCHEMA, Shard, Simulation, Sweep, due};
use cyclewise_bench::record::Tool;
use cyclewise_bench::sys::interrupt;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Computes the points of `sweep` that are in `shard`. Calls `tell`, from any thread, with the number done and the total.
pub(crate) fn run(sweep: Sweep, shard: Option<Shard>, tool: Tool, tell: &(dyn Fn(usize, usize) + Sync)) -> Simulation {
    // Those with the most threads first, so that no thread begins a long one when the others are about to end.
    let mut due: Vec<usize> = due(&sweep, shard).collect();
    due.sort_by_key(|point| Reverse(sweep.job_at(*point).1.threads));
    let (begun, done, all) = (AtomicUsize::new(0), AtomicUsize::new(0), due.len());
    // Of each machine, workload and reach once: a sweep has many points of each.
    let of_workload = |machine, workload| [Reach::Socket, Reach::Sockets].map(|reach| band(machine, workload, reach));
    let of_machine = |machine| {
        let workloads = sweep.workloads.iter();
        workloads.map(|workload| of_workload(machine, *workload)).collect()
    };
    let bands: Vec<Vec<[Option<Band>; 2]>> = sweep.machines.iter().map(of_machine).collect();
    let of = |machine: usize, job: &Job| {
        // Of a thread alone no row was held out: it is what a machine is described by.
        if job.threads == 1 {
            return None;
        }
        let at = sweep.workloads.iter().position(|w| *w == job.workload)?;
        let [within, between] = bands[machine][at];
        match Reach::of(&sweep.machines[machine], job) {
            Reach::Socket => within,
            Reach::Sockets => between,
        }
    };
    let point = |index| {
        let (machine, job) = sweep.job_at(index);
        let result = match interrupt::asked() {
            true => Err(format!("{NOT_SIMULATED}{}", interrupt::name())),
            false => predict(&sweep.machines[machine], &job).map_err(|why| why.to_string()),
        };
        let (prediction, refused) = match result {
            Ok(prediction) => (Some(prediction), None),
            Err(why) => (None, Some(why)),
        };
        // Relaxed: only a progress count.
        tell(done.fetch_add(1, Relaxed) + 1, all);
        Point {
            index,
            machine,
            band: of(machine, &job),
            job,
            outcome: prediction.as_ref().map(|prediction| prediction.middle().clone()),
            range: prediction.as_ref().map(Prediction::range),
            refused,
        }
    };
    // rayon begins its items in no order, so each takes the next point. Relaxed: it only hands out numbers.
    let next = |_: &usize| point(due[begun.fetch_add(1, Relaxed)]);
    let mut points: Vec<Point> = due.par_iter().with_max_len(1).map(next).collect();
    points.sort_unstable_by_key(|p| p.index);
    Simulation {
        schema: SCHEMA.to_owned(),
        tool,
        sweep,
        shard,
        points,
    }
}

#[cfg(test)]
mod tests;
