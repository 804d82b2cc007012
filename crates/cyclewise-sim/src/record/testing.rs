//! A small sweep, for the tests of its parts.

use super::{Point, SCHEMA, Shard, Simulation, Sweep, due};
use crate::{Latencies, Machine, Outcome, Placement, Relax, Workload};
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

/// Made-up figures of so many threads.
pub fn outcome(threads: u32, ns_per_op: f64) -> Outcome {
    let ns = |share: f64| share * ns_per_op * f64::from(threads);
    Outcome {
        threads,
        ops: 2000,
        elapsed_ns: 2000.0 * ns_per_op,
        ns_per_op,
        ops_per_s: 1e9 / ns_per_op,
        latency: Latencies {
            p50_ns: ns(0.9),
            p90_ns: ns(1.3),
            p99_ns: ns(2.0),
            p999_ns: ns(3.0),
            max_ns: ns(4.0),
        },
        jain: 1.0 / f64::from(threads).sqrt(),
        slowest_share: None,
        longest_wait_ns: ns(4.5),
        retries_per_success: 0.0,
        line_moves_per_op: 2.0,
        ops_per_ownership: 0.5,
        fallback_share: 0.0,
        events: 10_000,
        warm_up_ops: 0,
        stationary: None,
    }
}
