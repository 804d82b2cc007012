//! Plays jobs out.

use crate::machine::{Distance, Machine};
use crate::{Error, Job, Latencies, Length, Outcome};

/// One counter that goes round: each thread adds once per visit of the line.
pub(crate) fn run(machine: &Machine, job: &Job) -> Result<Outcome, Error> {
    let cpus = machine.topology.cpus();
    let asked = job.threads + job.readers;
    if job.threads == 0 {
        return Err(Error::NoThreads);
    }
    if asked > cpus {
        return Err(Error::TooManyThreads { asked, cpus });
    }
    let (Length::Operations { measured: ops, .. } | Length::Nanoseconds { measured: ops, .. }) = job.length;
    if ops == 0 {
        return Err(Error::NoLength);
    }
    let cycle = 1.0 / machine.ghz;
    let work = f64::from(machine.cost.rmw_cycles) * cycle;
    let (mut now, mut moves) = (0.0, 0_u32);
    let mut last = 0;
    for op in 0..ops {
        let cpu = u32::try_from(op % u64::from(job.threads)).expect("less than the threads");
        let distance = machine.topology.distance(last, cpu);
        if distance > Distance::Sibling {
            moves += 1;
        }
        now += machine.latency.of(distance) + work;
        last = cpu;
    }
    let count = ops as f64;
    let wait = now / count * f64::from(job.threads);
    Ok(Outcome {
        threads: job.threads,
        ops,
        elapsed_ns: now,
        ns_per_op: now / count,
        ops_per_s: 1e9 * count / now,
        latency: Latencies {
            p50_ns: wait,
            p90_ns: wait,
            p99_ns: wait,
            p999_ns: wait,
            max_ns: wait,
        },
        jain: 1.0,
        longest_wait_ns: wait,
        retries_per_success: 0.0,
        line_moves_per_op: f64::from(moves) / count,
        ops_per_ownership: count / f64::from(moves.max(1)),
        fallback_share: 0.0,
        events: ops,
    })
}
