//! The terminal's tables. They always contain colour codes; the output stream strips them if it is no terminal.

mod aligned;
mod comparison;
mod fleet;
pub mod grid;
mod guest;
mod in_context;
mod levels;
mod limits;
mod matrix;
mod row;
mod runs;
mod wide;

pub use comparison::{Of, comparison, side};
pub use fleet::fleet;
pub use grid::Look;
pub use limits::limits;
pub use runs::{runs, t_tests};

use super::number::{estimate, interval, percent, significant};
use super::row::usual_state;
use super::{in_unit, listed_variants};
use crate::answer;
use crate::record::{Experiment, Identity, Machine, Matrix, Record, State};
use grid::{BOLD, DIM, YELLOW, wrapped};
use std::fmt::Write;

/// A whole record: what it answers, a line for each experiment, then each experiment's rows, and warnings.
pub fn record(record: &Record, look: Look) -> String {
    let record = &*in_unit::record(record, look.unit);
    let mut out = format!("{}\n", machine(&record.machine, look));
    out.push_str(&answer(record, look));
    for e in &record.experiments {
        let _ = write!(out, "\n{}", experiment(record, e, look));
    }
    let _ = writeln!(out, "\n{}", wrapped(&tick(&record.machine), look, 0, 2));
    let identity = identity(&record.machine.identity);
    if !identity.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&identity, look, 0, 2));
    }
    for w in &record.machine.warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {}", wrapped(w, look, 9, 4));
    }
    out
}

/// What the record answers, and a line for each experiment.
fn answer(record: &Record, look: Look) -> String {
    let mut out = String::new();
    for sentence in answer::sentences(record) {
        let _ = writeln!(out, "{}", wrapped(&sentence, look, 0, 2));
    }
    if !record.experiments.is_empty() {
        out.push('\n');
        for e in &record.experiments {
            let line = wrapped(&answer::line(e), look, e.name.chars().count() + 2, 4);
            let _ = writeln!(out, "{BOLD}{}{BOLD:#}: {line}", e.name);
        }
    }
    out
}

/// The machine in a line; what else is known of it stands below the tables.
fn machine(m: &Machine, look: Look) -> String {
    let mut out = String::new();
    let hypervisor = m
        .hypervisor_name()
        .map_or("bare metal".to_string(), |h| format!("under {h}"));
    let cpus = if m.cpus == 1 { "CPU" } else { "CPUs" };
    let cpu = &m.cpu_model;
    let kernel = match m.kernel.as_str() {
        "" => "a kernel whose version cannot be read".to_string(),
        kernel => format!("Linux {kernel}"),
    };
    let node = m
        .identity
        .node
        .as_ref()
        .map_or(String::new(), |n| format!(", node {n}"));
    let line = format!("{cpu}, {} {cpus}, {hypervisor}, {kernel}{node}", m.cpus);
    let line = wrapped(&line, look, 0, 2);
    match line.strip_prefix(cpu) {
        Some(rest) => {
            let _ = writeln!(out, "{BOLD}{cpu}{BOLD:#}{rest}");
        }
        // The name itself was broken.
        None => {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// What groups the machine with others of a fleet, and the job that it worked for; empty if nothing is known.
fn identity(id: &Identity) -> String {
    let parts = [
        id.product_and_type(),
        id.microcode.as_ref().map(|revision| format!("microcode {revision}")),
        id.cgroup.as_ref().map(|limits| format!("control group: {limits}")),
        id.job.as_ref().map(|job| format!("job {job}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn tick(m: &Machine) -> String {
    let clocksource = match m.clocksource.as_str() {
        "" => "clocksource unknown",
        name => name,
    };
    let mut tick = format!(
        "1 tick = {:.4} ns ({:.6} GHz, {clocksource})",
        1e9 / m.tsc_hz,
        m.tsc_hz / 1e9
    );
    if let Some(c) = &m.core_cycles_per_tick {
        let _ = write!(
            tick,
            ", {} core cycles (95\u{a0}% {}; {})",
            estimate(c.value, c.ci95),
            interval(c.value, c.ci95),
            c.why
        );
    }
    tick
}

fn experiment(record: &Record, e: &Experiment, look: Look) -> String {
    let mut out = String::new();
    let question = wrapped(&e.question, look, e.name.chars().count() + 2, 2);
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}  {question}", e.name);
    if look.wide {
        let _ = writeln!(out, "{DIM}{}{DIM:#}", e.source);
    }
    if e.guest().is_none() || !e.variants.is_empty() {
        let _ = writeln!(out, "{}", wrapped(&circumstances(e), look, 0, 2));
    }
    if let Some(guest) = guest::guest(e, look) {
        let _ = write!(out, "{guest}");
    }
    let rows = listed_variants(e, matrix::MOST_ROWS);
    if let Some(matrix) = matrix::matrix(e, look) {
        let _ = write!(out, "{matrix}");
        if rows.len() < e.variants.len() {
            let _ = writeln!(
                out,
                "{} pairs are not listed below; the record contains them",
                e.variants.len() - rows.len()
            );
        }
    }
    if let Some(matrix) = in_context::in_context(e, look) {
        let _ = write!(out, "{matrix}");
    }
    if !rows.is_empty() {
        let _ = writeln!(out, "{}", row::rows(record, e, &rows, look));
    }
    if !e.metric_units().is_empty() {
        out.push_str(&runs::metrics(e, look));
    }
    if look.wide && !e.comparisons.is_empty() {
        let _ = writeln!(out, "{}", wide::comparisons(e));
    }
    for note in &e.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {}", wrapped(note, look, 6, 4));
    }
    for choice in answer::choices(e, record.machine.tsc_hz) {
        let _ = writeln!(out, "{}", wrapped(&choice, look, 0, 4));
    }
    out
}

/// The unit, the rounds, how many of them were quiet, and the noise floor.
fn circumstances(e: &Experiment) -> String {
    let quantity = e
        .timing
        .as_ref()
        .map_or(String::new(), |t| format!(" of {} time", t.by));
    let mut out = format!("{}{quantity}, {} rounds", e.unit.as_str(), e.rounds);
    if let Some(quiet) = e.probe.as_ref().and_then(|p| p.share(State::Quiet)) {
        let _ = write!(out, ", {} of them quiet", percent(quiet));
    }
    match usual_state(e) {
        State::All => {}
        state => {
            let _ = write!(out, "; figures are of {} rounds", state.as_str());
        }
    }
    match &e.control {
        Some(c) => {
            let _ = write!(out, "; noise floor {} ({} against itself)", percent(c.floor), c.of);
        }
        None => match e.matrix().and_then(Matrix::floors) {
            Some([least, most]) => {
                let _ = write!(
                    out,
                    "; cells read 0 below {} to {} ticks, by surroundings",
                    significant(least, 2),
                    significant(most, 2)
                );
            }
            None => out.push_str("; noise floor unknown: contains no A/A control"),
        },
    }
    out
}

#[cfg(test)]
mod tests;
