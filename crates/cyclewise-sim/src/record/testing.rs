//! A small sweep, for the tests of its parts.

use super::{Point, SCHEMA, Shard, Simulation, Sweep, due};
use crate::{Machine, Placement, Relax, Workload};
use cyclewise_bench::record::Tool;

/// Workloads with and without a retry limit on a machine of the tree.
pub fn sweep(threads: &[u32]) -> Sweep {
    let machine = Machine::preset("thunderx2").and_then(|preset| preset.machine().ok());
    Sweep {
        machines: vec![machine.expect("a machine of the tree")],
        workloads: vec![Workload::FetchAdd, Workload::Lockref, Workload::LockMcs],
        threads: threads.to_vec(),
        retry_limits: vec![Some(5), None],
        relax: vec![Relax::None],
        critical_cycles: 0,
        parallel_cycles: Some(0),
        placement: Placement::Compact,
        readers: 0,
        ops: Some(60),
        seed: 1,
    }
}

/// A shard whose points were refused, which are as valid as others and need no simulation.
pub fn document(sweep: &Sweep, shard: Option<Shard>) -> Simulation {
    let points = due(sweep, shard).map(|index| {
        let (machine, job) = sweep.job_at(index);
        Point {
            index,
            machine,
            job,
            outcome: None,
            range: None,
            band: None,
            refused: Some(format!("point {index}")),
        }
    });
    Simulation {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        points: points.collect(),
        sweep: sweep.clone(),
        shard,
    }
}

/// Shard `index` of `count`.
pub fn shard(index: u32, count: u32) -> Option<Shard> {
    Some(Shard { index, count })
}
