//! The terminal's tables. Colour codes are written always; the stream takes them out where no terminal wants them.

mod comparison;
mod grid;
mod list;
mod matrix;
mod phase;
mod recommendation;
mod runs;
mod simulation;

pub use comparison::comparison;
pub use list::{experiments, verification};
pub use phase::{phase, validation};
pub use recommendation::recommendation;
pub use runs::{runs, t_tests};
pub use simulation::{simulated, simulation};

use super::number::{figure, interval, p_value, percent};
use crate::experiment::core_to_core;
use crate::record::{Comparison, Experiment, Machine, Record, Variant, Verdict};
use comfy_table::Table;
use grid::{BOLD, DIM, YELLOW, coloured, table};
use runs::{metric_names, metrics};
use std::fmt::Write;

/// A whole record: the machine, then each experiment's rows and comparisons.
pub fn record(record: &Record) -> String {
    let mut out = machine(&record.machine);
    for e in &record.experiments {
        let _ = write!(out, "\n{}", experiment(e));
    }
    out
}

fn machine(m: &Machine) -> String {
    let mut out = String::new();
    let hypervisor = m
        .hypervisor
        .as_ref()
        .map_or("bare metal".to_string(), |h| format!("under {h}"));
    let _ = writeln!(
        out,
        "{BOLD}{}{BOLD:#}, {} CPUs, {hypervisor}, Linux {}",
        m.cpu_model, m.cpus, m.kernel
    );
    let _ = write!(
        out,
        "1 tick = {:.4} ns ({:.6} GHz, {})",
        1e9 / m.tsc_hz,
        m.tsc_hz / 1e9,
        m.clocksource
    );
    match &m.core_cycles_per_tick {
        Some(c) => {
            let half = (c.ci95[1] - c.ci95[0]) / 2.0;
            let _ = writeln!(
                out,
                ", {} core cycles (95 % {}; {})",
                figure(c.value, half),
                interval(c.ci95),
                c.why
            );
        }
        None => out.push('\n'),
    }
    for w in &m.warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {w}");
    }
    out
}

fn experiment(e: &Experiment) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {}", e.name, e.question);
    let _ = write!(
        out,
        "{DIM}{}{DIM:#}\n{}, {} rounds",
        e.source,
        e.unit.as_str(),
        e.rounds
    );
    match &e.control {
        Some(c) => {
            let _ = writeln!(out, ", noise floor {} ({} against itself)", percent(c.floor), c.of);
        }
        None => out.push_str(", no noise floor (the control had too few samples), so no verdict\n"),
    }
    let rows = rows(e);
    if let Some(matrix) = matrix::matrix(e) {
        let _ = write!(out, "{matrix}");
        if rows.len() < e.variants.len() {
            let _ = writeln!(
                out,
                "{} pairs have no row below; the record holds them",
                e.variants.len() - rows.len()
            );
        }
    }
    let _ = writeln!(out, "{}", variants(&rows));
    if !metric_names(e).is_empty() {
        let _ = writeln!(out, "{}", metrics(e));
    }
    if !e.comparisons.is_empty() {
        let _ = writeln!(out, "{}", comparisons(&e.comparisons));
    }
    for note in &e.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {note}");
    }
    out
}

/// The variants that get a row: all, but pairs of CPUs that are too many for it.
fn rows(e: &Experiment) -> Vec<&Variant> {
    let is_pair = |v: &&Variant| e.name == core_to_core::NAME && core_to_core::is_pair(&v.name);
    let crowded = e.variants.iter().filter(is_pair).count() > matrix::MOST_ROWS;
    e.variants.iter().filter(|v| !crowded || !is_pair(v)).collect()
}

fn variants(rows: &[&Variant]) -> Table {
    let cycles = rows.iter().any(|v| v.cycles.is_some());
    let ipc = rows.iter().any(|v| v.cycles.as_ref().is_some_and(|c| c.ipc.is_some()));
    let bytes = rows.iter().any(|v| v.code_bytes.is_some());
    let mut header = vec!["variant", "mean", "± 95 %", "sd", "median", "min", "n", "lost"];
    header.extend(cycles.then_some("cycles"));
    header.extend(ipc.then_some("IPC"));
    header.extend(bytes.then_some("bytes"));
    let rows = rows.iter().map(|v| {
        let half = (v.ci95[1] - v.ci95[0]) / 2.0;
        let mut row = vec![
            v.name.clone(),
            figure(v.mean, half),
            relative(half, v.mean),
            figure(v.sd, half),
            figure(v.median, half),
            figure(v.min, half),
            v.n.to_string(),
            v.rejected.to_string(),
        ];
        row.extend(cycles.then(|| {
            v.cycles
                .as_ref()
                .map_or_else(String::new, |c| figure(c.per_op, (c.ci95[1] - c.ci95[0]) / 2.0))
        }));
        row.extend(ipc.then(|| {
            v.cycles
                .as_ref()
                .and_then(|c| c.ipc)
                .map_or_else(String::new, |ipc| format!("{ipc:.2}"))
        }));
        row.extend(bytes.then(|| v.code_bytes.map_or_else(String::new, |b| b.to_string())));
        row
    });
    table(&header, rows, 1)
}

fn relative(half: f64, mean: f64) -> String {
    if mean == 0.0 {
        String::new()
    } else {
        percent((half / mean).abs())
    }
}

fn comparisons(all: &[Comparison]) -> Table {
    let rows = all.iter().map(|c| {
        vec![
            format!("{} is", c.a),
            coloured(c.verdict),
            format!(
                "{} {}",
                if c.verdict == Verdict::Indistinguishable {
                    "from"
                } else {
                    "than"
                },
                c.b
            ),
            figure(c.ratio, (c.ratio_ci95[1] - c.ratio_ci95[0]) / 2.0),
            interval(c.ratio_ci95),
            figure(c.difference, (c.ci95[1] - c.ci95[0]) / 2.0),
            interval(c.ci95),
            format!("{:.2}", c.t),
            format!("{:.1}", c.df),
            p_value(c.p),
            p_value(c.p_holm),
        ]
    });
    table(
        &[
            "",
            "verdict",
            "",
            "ratio",
            "95 %",
            "difference",
            "95 %",
            "t",
            "df",
            "p",
            "p (Holm)",
        ],
        rows,
        3,
    )
}
