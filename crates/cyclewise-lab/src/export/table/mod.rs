//! The terminal's tables. They always contain colour codes; the output stream strips them if it is no terminal.

mod comparison;
mod grid;
mod list;
mod matrix;
mod phase;
mod recommendation;
mod runs;
mod simulation;

pub(crate) use comparison::comparison;
pub(crate) use list::{experiments, verification};
pub(crate) use phase::{phase, validation};
pub(crate) use recommendation::recommendation;
pub(crate) use runs::{runs, t_tests};
pub(crate) use simulation::{simulated, simulation};

use super::listed_variants;
use super::number::{
    at_least_two_digits, count, decimals, estimate, fixed, half_width, interval, p_value, percent, significant,
};
use crate::record::{Comparison, Experiment, Machine, Record, Variant, bounds};
use comfy_table::Table;
use grid::{BOLD, DIM, YELLOW, coloured, preposition, table};
use runs::metrics;
use std::fmt::Write;

/// A whole record: the machine, then each experiment's rows and comparisons.
pub(crate) fn record(record: &Record) -> String {
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
            let _ = writeln!(
                out,
                ", {} core cycles (95 % {}; {})",
                estimate(c.value, c.ci95),
                interval(c.value, c.ci95),
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
        None => out.push_str(", noise floor unknown (too few samples of the control), so no verdict\n"),
    }
    let rows = listed_variants(e, matrix::MOST_ROWS);
    if let Some(matrix) = matrix::matrix(e) {
        let _ = write!(out, "{matrix}");
        if rows.len() < e.variants.len() {
            let _ = writeln!(
                out,
                "{} pairs are not listed below; the record contains them",
                e.variants.len() - rows.len()
            );
        }
    }
    let _ = writeln!(out, "{}", variants(&rows));
    if !e.metric_units().is_empty() {
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

fn variants(rows: &[&Variant]) -> Table {
    let cycles = rows.iter().any(|v| v.cycles.is_some());
    let ipc = rows.iter().any(|v| v.cycles.as_ref().is_some_and(|c| c.ipc.is_some()));
    let bytes = rows.iter().any(|v| v.code_bytes.is_some());
    let mut header = vec!["variant", "mean", "± 95 %", "sd", "median", "min", "n", "rejected"];
    header.extend(cycles.then_some("cycles"));
    header.extend(ipc.then_some("IPC"));
    header.extend(bytes.then_some("bytes"));
    let rows = rows.iter().map(|v| {
        let half = half_width(v.ci95);
        let digits = decimals(v.mean, half);
        let mut row = vec![
            v.name.clone(),
            fixed(v.mean, digits),
            relative(half, v.mean),
            significant(v.sd, 2),
            at_least_two_digits(v.median, digits),
            at_least_two_digits(v.min, digits),
            count(v.n),
            count(v.rejected),
        ];
        row.extend(cycles.then(|| {
            v.cycles
                .as_ref()
                .map_or_else(String::new, |c| estimate(c.per_op, c.ci95))
        }));
        row.extend(ipc.then(|| {
            v.cycles
                .as_ref()
                .and_then(|c| c.ipc)
                .map_or_else(String::new, |ipc| significant(ipc, 3))
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
            format!("{} {}", preposition(c.verdict), c.b),
            estimate(c.ratio, bounds(c.ratio_ci95)),
            interval(c.ratio, bounds(c.ratio_ci95)),
            estimate(c.difference, c.ci95),
            interval(c.difference, c.ci95),
            fixed(c.t, 2),
            fixed(c.df, 1),
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
