//! A simulated sweep, and the lists of workloads and machines.

use crate::export::band;
use crate::record::{Point, Simulation};
use cyclewise_report::export::table::grid::{BOLD, DIM, YELLOW, left, table};
use cyclewise_report::number::{count, fixed, percent, significant};

use crate::{Machine, Workload};
use std::fmt::{Display, Write};

/// A sweep: one table of points per machine.
pub(crate) fn simulation(s: &Simulation) -> String {
    let mut out = String::new();
    for (i, machine) in s.sweep.machines.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}, {} CPUs  {DIM}{}{DIM:#}",
            machine.name,
            machine.cpus(),
            machine.about
        );
        if !machine.fitted.is_empty() {
            let _ = writeln!(out, "{DIM}fitted, not measured:{DIM:#} {}", machine.fitted.join(", "));
        }
        let _ = writeln!(out, "{}", points(s, i));
        let _ = writeln!(
            out,
            "{DIM}times may be off by:{DIM:#} {}",
            band::sentence(machine, s.sweep.workloads.iter().copied())
        );
    }
    let sweep = &s.sweep;
    let _ = writeln!(
        out,
        "{DIM}simulated; {} cycles of critical work, {} of parallel work, {} readers, placement {}, start {}, seed {}; retries, moves and fallback: per \
         operation{DIM:#}",
        sweep.critical_cycles,
        sweep.parallel_words(),
        sweep.readers,
        sweep.placement.name(),
        sweep.start.unwrap_or_default().name(),
        sweep.seed
    );
    if let Some(shard) = s.shard {
        let _ = writeln!(
            out,
            "{DIM}shard {} of {}; join them with `cyclewise report`{DIM:#}",
            shard.index, shard.count
        );
    }
    for p in &s.points {
        if let Some(outcome) = p.outcome.as_ref().filter(|outcome| outcome.stationary == Some(false)) {
            let _ = writeln!(
                out,
                "{YELLOW}warning:{YELLOW:#} {} threads of {}: throughput was not stationary after {} operations; --ops fixes a length",
                p.job.threads,
                p.job.workload,
                outcome.warm_up_ops + outcome.ops
            );
        }
        if let Some(why) = &p.refused {
            let _ = writeln!(
                out,
                "{YELLOW}warning:{YELLOW:#} {} threads of {}: {why}",
                p.job.threads, p.job.workload
            );
        }
    }
    out
}

fn points(s: &Simulation, machine: usize) -> impl Display {
    let header = [
        "workload",
        "limit",
        "relax",
        "threads",
        "Mop/s",
        "ns/op",
        "off by",
        "p50 ns",
        "p99 ns",
        "max ns",
        "Jain",
        "longest wait ns",
        "retries",
        "moves",
        "ops/ownership",
        "fallback",
    ];
    let rows = s.points.iter().filter(|p| p.machine == machine).map(row);
    table(&header, rows, 3)
}

fn row(p: &Point) -> Vec<String> {
    let limit = match p.job.retry_limit {
        Some(limit) => limit.to_string(),
        None if p.job.workload.takes_retry_limit() => "none".to_owned(),
        None => String::new(),
    };
    let mut row = vec![
        p.job.workload.name().to_owned(),
        limit,
        p.job.relax.to_string(),
        p.job.threads.to_string(),
    ];
    let Some(o) = &p.outcome else {
        row.push("stuck".to_owned());
        row.resize(16, String::new());
        return row;
    };
    row.extend([
        significant(o.ops_per_s / 1e6, 3),
        significant(o.ns_per_op, 3),
        band::factor(p.band.as_ref()),
        significant(o.latency.p50_ns, 3),
        significant(o.latency.p99_ns, 3),
        significant(o.latency.max_ns, 3),
        fixed(o.jain, 3),
        significant(o.longest_wait_ns, 3),
        significant(o.retries_per_success, 3),
        significant(o.line_moves_per_op, 3),
        significant(o.ops_per_ownership, 3),
        percent(o.fallback_share),
    ]);
    row
}

/// The lists of workloads and machines.
pub(crate) fn simulated(machines: &[(&str, Machine)]) -> String {
    let mut out = format!("{BOLD}workloads{BOLD:#}\n");
    let rows = Workload::ALL
        .iter()
        .map(|w| vec![w.name().to_owned(), w.about().to_owned()]);
    let _ = writeln!(out, "{}", table(&["name", "one operation"], rows, 2));
    let _ = writeln!(out, "\n{BOLD}machines{BOLD:#}");
    let rows = machines
        .iter()
        .map(|(name, m)| vec![(*name).to_owned(), count(m.cpus() as usize), m.about.clone()]);
    let mut list = table(&["name", "CPUs", "description"], rows, 1);
    left(&mut list, 2);
    let _ = writeln!(out, "{list}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::band::{Band, Evidence};
    use crate::machine::HeldOut;
    use crate::record::{SCHEMA, Shard, ShardBy, Sweep};
    use crate::{Job, Latencies, Outcome, Placement, Relax, Topology};
    use cyclewise_bench::record::Tool;

    #[test]
    fn the_table_as_people_read_it() {
        let mut machine = Machine::plain(Topology {
            sockets: 2,
            clusters_per_socket: 1,
            cores_per_cluster: 2,
            threads_per_core: 1,
        });
        machine.fitted = vec!["line.hold".to_owned()];
        // Its error is its own, not that of published machines.
        machine.held_out = (1..=4)
            .map(|threads| HeldOut::of(&Job::new(Workload::FetchAdd, threads), 100.0, 125.0))
            .collect();
        let sweep = Sweep {
            machines: vec![machine],
            workloads: vec![Workload::FetchAdd, Workload::Lockref],
            threads: vec![4],
            retry_limits: vec![Some(100), None],
            relax: vec![Relax::Exponential { max: 64 }],
            critical_cycles: 5,
            parallel_cycles: Some(50),
            start: Some(crate::Start::Scattered),
            placement: Placement::CompactSmt,
            readers: 0,
            ops: None,
            seed: 1,
        };
        let outcome = |i: usize| Outcome {
            threads: 4,
            ops: 2000,
            elapsed_ns: 90_000.0,
            ns_per_op: 45.0,
            ops_per_s: 22_222_222.0,
            latency: Latencies {
                p50_ns: 171.2,
                p90_ns: 190.0,
                p99_ns: 900.5,
                p999_ns: 1500.0,
                max_ns: 12_345.6,
            },
            jain: 0.98765,
            longest_wait_ns: 12_400.0,
            retries_per_success: 0.0456,
            line_moves_per_op: 1.0,
            ops_per_ownership: 0.999,
            fallback_share: 0.125 * i as f64,
            events: 1,
            warm_up_ops: 1000,
            stationary: Some(true),
        };
        let points = sweep
            .jobs()
            .into_iter()
            .enumerate()
            .map(|(index, (machine, job))| Point {
                index,
                machine,
                job,
                outcome: (index < 2).then(|| outcome(index)),
                band: (index == 1).then_some(Band {
                    factor: 1.4,
                    rows: 9,
                    coverage: 0.8,
                    from: Evidence::ThisMachine,
                }),
                refused: (index == 2).then(|| "no operation was done in 9 events".to_owned()),
            });
        let simulation = Simulation {
            schema: SCHEMA.to_owned(),
            tool: Tool {
                version: "0".to_owned(),
                commit: None,
            },
            points: points.collect(),
            sweep,
            shard: Some(Shard {
                index: 1,
                count: 2,
                by: ShardBy::Index,
            }),
        };
        let text = super::simulation(&simulation);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
