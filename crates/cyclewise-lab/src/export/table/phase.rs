//! The phase diagram, and what a validation came to.

use super::grid::{BOLD, DIM, green, red, table};
use super::simulation::three;
use crate::simulate::phase::Phase;
use cyclewise_sim::validation::{Report, Role};
use std::fmt::Write;

/// Retries per success: a row for each number of overtakers, fair at the bottom, a column for each hold.
pub fn phase(phase: &Phase) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}, {} threads on {}: retries for each success\n",
        phase.job.workload, phase.job.threads, phase.machine.name
    );
    let first = phase.cells.first().map(Vec::as_slice).unwrap_or_default();
    let mut header = vec!["may overtake".to_owned()];
    header.extend(first.iter().map(|c| format!("hold {}", c.hold)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = phase.cells.iter().rev().map(|row| {
        let name = row.first().map_or_else(String::new, |c| c.overtakes.to_string());
        std::iter::once(name)
            .chain(row.iter().map(|c| three(c.retries_per_success)))
            .collect()
    });
    let _ = writeln!(out, "{}", table(&header, rows, 0));
    let _ = writeln!(
        out,
        "{DIM}simulated; hold after an exclusive fill in transfers, how many requests in a row may overtake the oldest; {}{DIM:#}",
        phase.own_place()
    );
    out
}

/// A range that has no end is told by its largest number.
const NO_END: f64 = 1e100;

/// Targets of the validation, then the rows.
pub fn validation(report: &Report) -> String {
    let role = |role: Role| match role {
        Role::Fitted => "fitted",
        Role::Predicted => "predicted",
    };
    let targets = report.targets.iter().map(|t| {
        let (style, word) = if t.is_met() {
            (green(), "met")
        } else {
            (red(), "MISSED")
        };
        let end = |x: f64| if x.abs() < NO_END { three(x) } else { "…".to_owned() };
        vec![
            t.machine.clone(),
            t.what.clone(),
            format!("{style}{word}{style:#}"),
            role(t.role).to_owned(),
            three(t.seen),
            format!("{} to {} {}", end(t.asked.0), end(t.asked.1), t.unit),
        ]
    });
    let mut out = format!(
        "{}\n\n",
        table(&["machine", "target", "", "", "seen", "asked"], targets, 4)
    );
    let rows = report.rows.iter().map(|r| {
        vec![
            r.machine.clone(),
            r.workload.clone(),
            role(r.role).to_owned(),
            r.threads.to_string(),
            three(r.published),
            three(r.seen),
            format!("{:+.0} %", 100.0 * r.error()),
            r.unit.clone(),
        ]
    });
    let header = [
        "machine",
        "workload",
        "",
        "threads",
        "published",
        "simulated",
        "off by",
        "unit",
    ];
    let _ = writeln!(out, "{}", table(&header, rows, 3));
    let missed = report.missed().count();
    let _ = writeln!(
        out,
        "{} of {} targets are met",
        report.targets.len() - missed,
        report.targets.len()
    );
    out
}
