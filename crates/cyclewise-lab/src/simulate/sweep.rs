//! Computes a sweep: its points in parallel, and their results in order.

use crate::record::Tool;
use crate::record::simulation::{Point, SCHEMA, Shard, Simulation, Sweep};
use cyclewise_sim::simulate;
use rayon::prelude::*;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Computes the points of `sweep` that are in `shard`. Calls `tell`, from any thread, with the number done and the total.
pub(crate) fn run(sweep: Sweep, shard: Option<Shard>, tool: Tool, tell: &(dyn Fn(usize, usize) + Sync)) -> Simulation {
    let jobs = sweep.jobs().into_iter().enumerate();
    let due: Vec<_> = jobs.filter(|(i, _)| shard.is_none_or(|s| s.holds(*i))).collect();
    let (done, all) = (AtomicUsize::new(0), due.len());
    let point = |(index, (machine, job))| {
        let result = simulate(&sweep.machines[machine], &job);
        let (outcome, refused) = match result {
            Ok(outcome) => (Some(outcome), None),
            Err(why) => (None, Some(why.to_string())),
        };
        // Relaxed: only a progress count.
        tell(done.fetch_add(1, Relaxed) + 1, all);
        Point {
            index,
            machine,
            job,
            outcome,
            refused,
        }
    };
    // Points with many threads are slow and last in each row, so single points balance better than blocks.
    let points = due.into_par_iter().with_max_len(1).map(point).collect();
    Simulation {
        schema: SCHEMA.to_owned(),
        tool,
        sweep,
        shard,
        points,
    }
}
