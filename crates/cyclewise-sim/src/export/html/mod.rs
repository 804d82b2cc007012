//! The page of a sweep: machines, curves over threads, and the table.

use crate::export::figure::FIGURES;
use crate::export::table::{left_out, off_by};
use crate::record::{Point, Simulation};
use cyclewise_bench::error::Result;
use cyclewise_report::export::html::finish;
use cyclewise_report::export::html::machine::{Fact, facts, tool};
use cyclewise_report::export::html::page::STYLE;
use cyclewise_report::export::html::plot::{Curves, LINES, Line, Plot, SERIES};
use cyclewise_report::export::html::table::{Cell, Table, number, words};
use cyclewise_report::number::{NONE, count, significant};

use crate::machine::Published;
use crate::{Machine, Outcome};
use askama::Template;

/// Renders a simulated sweep.
///
/// # Errors
/// Exit 3 if rendering fails; no content of a sweep causes it.
pub fn render_simulation(simulation: &Simulation) -> Result<String> {
    finish(&SimulationPage::new(simulation)?)
}

/// A sweep.
#[derive(Template)]
#[template(path = "simulation.html")]
struct SimulationPage {
    title: String,
    style: &'static str,
    series: usize,
    facts: Vec<Fact>,
    machines: Vec<MachineView>,
    warnings: Vec<String>,
    plots: Vec<Plot>,
    table: Table,
    published: Option<Table>,
}

/// A machine, and which of its figures are fitted.
struct MachineView {
    name: String,
    about: String,
    facts: Vec<Fact>,
    fitted: String,
}

/// Points that differ only in the number of threads.
struct Series<'a> {
    label: String,
    points: Vec<&'a Point>,
}

/// A metric drawn over the threads: its name, its unit, its value at a point, and its value from a published figure.
struct Metric {
    name: &'static str,
    unit: &'static str,
    of: fn(&Outcome) -> f64,
    published: fn(&str, f64) -> Option<f64>,
}

const METRICS: [Metric; 5] = [
    Metric {
        name: "Total throughput",
        unit: "million operations per second",
        of: |o| o.ops_per_s / 1e6,
        published: |unit, value| (unit == "ns/op").then(|| 1e3 / value),
    },
    Metric {
        name: "Retries per operation",
        unit: "retries/op",
        of: |o| o.retries_per_success,
        published: |unit, value| (unit == "retries/op").then_some(value),
    },
    Metric {
        name: "p99 latency",
        unit: "ns",
        of: |o| o.latency.p99_ns,
        published: |_, _| None,
    },
    Metric {
        name: "Fairness (Jain's index: 1 if all threads did the same number of operations)",
        unit: "index",
        of: |o| o.jain,
        published: |_, _| None,
    },
    Metric {
        name: "Share of operations that took the lock",
        unit: "%",
        of: |o| 100.0 * o.fallback_share,
        published: |_, _| None,
    },
];

impl SimulationPage {
    /// The page of `s`.
    fn new(s: &Simulation) -> Result<Self> {
        let series = series(s);
        let plots = METRICS.iter().map(|metric| plot(s, &series, metric));
        let refused = s.points.iter().filter(|p| !p.is_left_out());
        let refused = refused.filter_map(|p| Some((p, p.refused.as_ref()?)));
        let refused = refused.map(|(p, why)| format!("{}: {why}", name(s, p)));
        Ok(SimulationPage {
            title: title(s),
            style: STYLE,
            series: SERIES,
            facts: sweep_facts(s),
            machines: s.sweep.machines.iter().map(MachineView::new).collect(),
            warnings: left_out(s).into_iter().chain(refused).collect(),
            plots: plots.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect(),
            table: table(s),
            published: published(s),
        })
    }
}

fn title(s: &Simulation) -> String {
    let workloads: Vec<&str> = s.sweep.workloads.iter().map(|w| w.name()).collect();
    let machines: Vec<&str> = s.sweep.machines.iter().map(|m| m.name.as_str()).collect();
    format!("{} on {}, simulated", workloads.join(", "), machines.join(", "))
}

fn sweep_facts(s: &Simulation) -> Vec<Fact> {
    let sweep = &s.sweep;
    let shard = s
        .shard
        .map_or_else(|| "all".to_owned(), |p| format!("shard {} of {}", p.index, p.count));
    facts([
        ("Points", format!("{} ({shard})", count(s.points.len()))),
        ("Critical work", format!("{} cycles", sweep.critical_cycles)),
        ("Parallel work", sweep.parallel_words()),
        ("Readers", sweep.readers.to_string()),
        ("Placement", sweep.placement.name().to_owned()),
        ("Seed", sweep.seed.to_string()),
        ("Written by", tool(&s.tool)),
    ])
}

impl MachineView {
    fn new(m: &Machine) -> Self {
        let ns = |ns: Option<f64>| ns.map_or_else(|| NONE.to_owned(), |ns| format!("{} ns", significant(ns, 3)));
        let t = m.topology;
        let facts = facts([
            (
                "CPUs",
                format!("{} in {} sockets, {} cores", m.cpus(), t.sockets, t.cores()),
            ),
            ("Clock", format!("{} GHz", significant(m.ghz, 3))),
            ("One way to a sibling", ns(m.latency.sibling_ns)),
            ("One way in a cluster", ns(m.latency.cluster_ns)),
            ("One way in a socket", ns(m.latency.socket_ns)),
            ("One way to another socket", ns(m.latency.remote_ns)),
            ("Arbiter", m.line.arbiter.in_words()),
            ("Hold", m.line.hold.in_words()),
        ]);
        MachineView {
            name: m.name.clone(),
            about: m.about.clone(),
            facts,
            fitted: m.fitted.join(", "),
        }
    }
}

/// A point's label without its threads: only what varies.
fn label(s: &Simulation, p: &Point) -> String {
    let mut parts = vec![p.job.workload.name().to_owned()];
    if p.job.workload.takes_retry_limit() {
        parts.push(match p.job.retry_limit {
            Some(limit) => format!("limit {limit}"),
            None => "no limit".to_owned(),
        });
    }
    if s.sweep.relax.len() > 1 {
        parts.push(p.job.relax.to_string());
    }
    if s.sweep.machines.len() > 1 {
        parts.push(s.sweep.machines[p.machine].name.clone());
    }
    parts.join(", ")
}

fn name(s: &Simulation, p: &Point) -> String {
    format!("{}, {} threads", label(s, p), p.job.threads)
}

fn series(s: &Simulation) -> Vec<Series<'_>> {
    let mut all: Vec<Series> = Vec::new();
    for point in &s.points {
        let label = label(s, point);
        match all.iter_mut().find(|series| series.label == label) {
            Some(series) => series.points.push(point),
            None => all.push(Series {
                label,
                points: vec![point],
            }),
        }
    }
    all
}

/// The curves of one metric; `None` if all values are zero.
fn plot(s: &Simulation, series: &[Series], metric: &Metric) -> Result<Option<Plot>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut crossed = Vec::new();
    for one in series.iter().take(LINES) {
        let figures = one
            .points
            .iter()
            .filter_map(|p| Some((f64::from(p.job.threads), (metric.of)(p.outcome.as_ref()?))));
        let mut published = Vec::new();
        if let Some(first) = one.points.first() {
            // Once: lines with other retry limits would have the same crosses.
            let of = (first.machine, first.job.workload, first.job.relax);
            if !crossed.contains(&of) {
                crossed.push(of);
                published = crosses(&s.sweep.machines[first.machine], first, metric);
            }
        }
        lines.push(Line {
            label: one.label.clone(),
            points: figures.collect(),
            published,
        });
    }
    if lines
        .iter()
        .all(|l| l.published.is_empty() && l.points.iter().all(|p| p.1 == 0.0))
    {
        return Ok(None);
    }
    let caption = if series.len() > LINES {
        format!(
            "Only the first {LINES} of {} are drawn; the table contains them all.",
            series.len()
        )
    } else {
        String::new()
    };
    Curves {
        name: metric.name,
        unit: metric.unit,
        counted: "threads",
        lines,
        caption,
    }
    .draw()
}

/// The published figures of a point's machine, workload and relax policy that give this metric: threads and value.
fn crosses(machine: &Machine, point: &Point, metric: &Metric) -> Vec<(f64, f64)> {
    let of_it = |p: &&Published| p.workload == point.job.workload.name() && p.relax == point.job.relax;
    let values = machine.published.iter().filter(of_it);
    values
        .filter_map(|p| Some((f64::from(p.threads), (metric.published)(&p.unit, p.value)?)))
        .collect()
}

fn table(s: &Simulation) -> Table {
    let mut table = Table::new("All points of the sweep; times are simulated");
    table.words("Workload");
    table.numbers("Threads", "");
    for figure in FIGURES {
        table.numbers(figure.title, figure.unit);
    }
    table.numbers("Off by", "factor");
    table.rows = s.points.iter().map(|p| row(s, p)).collect();
    table
}

fn row(s: &Simulation, p: &Point) -> Vec<Cell> {
    let mut cells = vec![words(label(s, p)), number(count(p.job.threads as usize))];
    match &p.outcome {
        Some(o) => cells.extend(FIGURES.iter().map(|figure| number(significant((figure.of)(o), 3)))),
        None => {
            cells.push(number("no progress"));
            cells.resize_with(2 + FIGURES.len(), || number(NONE));
        }
    }
    cells.push(number(off_by(p.band.as_ref())));
    cells
}

/// The published figures of these machines, beside the simulated ones; `None` if there are none.
fn published(s: &Simulation) -> Option<Table> {
    let mut table = Table::new("Published figures of these machines, and the corresponding points of this sweep");
    table.words("Workload");
    table.words("Machine");
    table.numbers("Threads", "");
    table.numbers("Published", "");
    table.words("Unit");
    table.numbers("Simulated", "");
    table.words("Source");
    for (i, machine) in s.sweep.machines.iter().enumerate() {
        for p in machine
            .published
            .iter()
            .filter(|p| s.sweep.workloads.iter().any(|w| w.name() == p.workload))
        {
            let matches = |point: &&Point| {
                point.machine == i
                    && point.job.workload.name() == p.workload
                    && point.job.threads == p.threads
                    && point.job.relax == p.relax
            };
            let outcome = s.points.iter().find(matches).and_then(|point| point.outcome.as_ref());
            let ours = outcome.and_then(|o| match p.unit.as_str() {
                "ns/op" => Some(o.ns_per_op),
                "retries/op" => Some(o.retries_per_success),
                _ => None,
            });
            table.rows.push(vec![
                words(&p.workload),
                words(&machine.name),
                number(p.threads.to_string()),
                number(significant(p.value, 4)),
                words(&p.unit),
                number(ours.map_or_else(|| "not in this sweep".to_owned(), |x| significant(x, 3))),
                words(&p.source),
            ]);
        }
    }
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests;
