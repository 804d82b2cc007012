//! The page of a simulated sweep, with invented data so that changes of the model do not affect them.

#[path = "../../../../cyclewise-report/src/export/html/visible.rs"]
mod visible;

use super::render_simulation;
use crate::machine::{HeldOut, Published};
use crate::record::testing::{document, outcome, sweep};
use crate::record::{Simulation, Sweep};
use crate::{Job, Machine, Relax, Topology, Workload};
use visible::text;

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
fn simulation(limits: &[Option<u32>]) -> Simulation {
    let sweep = Sweep {
        machines: vec![machine()],
        workloads: vec![Workload::Lockref],
        retry_limits: limits.to_vec(),
        critical_cycles: 5,
        parallel_cycles: Some(50),
        ..sweep(&[1, 2, 4, 8, 16])
    };
    let mut simulation = document(&sweep, None);
    simulation.tool = cyclewise_bench::record::Tool {
        version: "0.1.0".to_owned(),
        commit: None,
    };
    for point in &mut simulation.points {
        let limit = f64::from(point.job.retry_limit.unwrap_or(200));
        let threads = point.job.threads;
        let mut found = outcome(threads, 10.0 + f64::from(threads) * (3.0 + limit / 100.0));
        found.retries_per_success = f64::from(threads - 1) * limit / 200.0;
        found.fallback_share = if point.job.retry_limit.is_some() { 0.25 } else { 0.0 };
        (point.outcome, point.refused) = (Some(found), None);
    }
    simulation
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
