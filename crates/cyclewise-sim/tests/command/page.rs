//! The page of a simulated sweep, with invented data so that changes of the model do not affect them.

use crate::visible::text;
use cyclewise_bench::record::Tool;
use cyclewise_sim::export::html::render_simulation;
use cyclewise_sim::machine::{HeldOut, Published};
use cyclewise_sim::record::{Point, SCHEMA, Simulation, Sweep};
use cyclewise_sim::{Job, Latencies, Machine, Outcome, Placement, Relax, Topology, Workload};

fn tool() -> Tool {
    Tool {
        version: "0.1.0".to_owned(),
        commit: None,
    }
}

fn machine() -> Machine {
    let mut machine = Machine::plain(Topology::new(2, 1, 8, 1));
    // The figures that the page shows are its own.
    machine.latency.sibling_ns = Some(8.0);
    machine.latency.socket_ns = Some(40.0);
    machine.latency.remote_ns = Some(120.0);
    machine.fitted = vec!["line.hold".to_owned()];
    // And so is its error, not that of published machines.
    machine.held_out = (1..=4)
        .map(|threads| HeldOut::of(&Job::new(Workload::CasLoop, threads), 100.0, 125.0))
        .collect();
    let published = |threads, value, unit: &str| Published {
        workload: "lockref".to_owned(),
        threads,
        relax: Relax::None,
        value,
        unit: unit.to_owned(),
        source: "Somebody, 2019".to_owned(),
    };
    machine.published = vec![
        published(4, 90.0, "ns/op"),
        published(16, 12.0, "retries/op"),
        published(16, 1.6, "ratio"),
    ];
    machine
}

/// Figures that follow from threads and limit.
fn outcome(job: &Job) -> Outcome {
    let limit = f64::from(job.retry_limit.unwrap_or(200));
    let ns_per_op = 10.0 + f64::from(job.threads) * (3.0 + limit / 100.0);
    let ns = |share: f64| share * ns_per_op * f64::from(job.threads);
    Outcome {
        threads: job.threads,
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
        jain: 1.0 / f64::from(job.threads).sqrt(),
        slowest_share: None,
        longest_wait_ns: ns(4.5),
        retries_per_success: f64::from(job.threads - 1) * limit / 200.0,
        line_moves_per_op: 2.0,
        ops_per_ownership: 0.5,
        fallback_share: if job.retry_limit.is_some() { 0.25 } else { 0.0 },
        events: 10_000,
        warm_up_ops: 0,
        stationary: None,
    }
}

fn simulation(limits: &[Option<u32>]) -> Simulation {
    let sweep = Sweep {
        machines: vec![machine()],
        workloads: vec![Workload::Lockref],
        threads: vec![1, 2, 4, 8, 16],
        retry_limits: limits.to_vec(),
        relax: vec![Relax::None],
        critical_cycles: 5,
        parallel_cycles: Some(50),
        placement: Placement::Compact,
        readers: 0,
        ops: None,
        seed: 1,
    };
    let points = sweep
        .jobs()
        .into_iter()
        .enumerate()
        .map(|(index, (machine, job))| Point {
            index,
            machine,
            outcome: Some(outcome(&job)),
            range: None,
            band: None,
            refused: None,
            job,
        });
    Simulation {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        points: points.collect(),
        sweep,
        shard: None,
    }
}

fn page() -> String {
    render_simulation(&simulation(&[Some(15), Some(100), None])).unwrap()
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let page = page();
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'; img-src data:"));
    for external in ["http:", "https:", "//", "src=", "@import", "<script", "<link", "url(\""] {
        assert!(!page.contains(external), "the page holds {external}");
    }
}

#[test]
fn a_sweep_reads_as_it_should() {
    insta::assert_snapshot!(text(&page()));
}

#[test]
fn every_point_is_a_dot_in_each_plot_and_published_ones_are_crosses() {
    let page = page();
    let plots: Vec<&str> = page.split("<svg class=\"plot").skip(1).collect();
    assert_eq!(plots.len(), 10, "five plots, each for two pages");
    for (i, plot) in plots.iter().enumerate() {
        let dots = plot.matches("<rect").count();
        assert_eq!(dots, 15, "plot {i}: three limits on five counts");
        let strokes = plot.matches("<polyline").count();
        let lines = strokes - plot.matches("#030303").count();
        // A line and its place in the legend for each limit, and two strokes for the cross.
        let crosses = if i < 4 { 2 } else { 0 };
        assert_eq!(lines, 6 + crosses, "plot {i}");
    }
}

#[test]
fn points_that_got_nowhere_are_said_and_leave_no_dot() {
    let mut s = simulation(&[None]);
    s.points[4].outcome = None;
    s.points[4].refused = Some("no operation was done in <b>9</b> events".to_owned());
    let page = render_simulation(&s).unwrap();
    assert!(
        page.contains("no progress") && page.contains("&#60;b&#62;9"),
        "{}",
        text(&page)
    );
    let first = page.split("<svg class=\"plot").nth(1).unwrap();
    assert_eq!(first.matches("<rect").count(), 4);
}

#[test]
fn more_lines_than_can_be_told_apart_are_in_the_table_alone() {
    let limits: Vec<Option<u32>> = (1..=40).map(Some).collect();
    let page = render_simulation(&simulation(&limits)).unwrap();
    assert!(page.contains("Only the first 24 of 40 are drawn"));
    assert_eq!(page.matches("lockref, limit 40</th>").count(), 5);
}

#[test]
fn a_sweep_that_came_to_nothing_is_a_page_all_the_same() {
    let mut s = simulation(&[None]);
    for point in &mut s.points {
        point.outcome = None;
        point.refused = Some("stuck".to_owned());
    }
    let page = render_simulation(&s).unwrap();
    assert!(page.contains("no progress") && page.contains("5 warnings"));
}
