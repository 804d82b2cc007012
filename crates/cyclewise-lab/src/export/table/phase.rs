//! The phase diagram, and the result of a validation.

use super::grid::{BOLD, DIM, green, red, table};
use crate::number::{fixed, significant};
use crate::simulate::band;
use crate::simulate::phase::Phase;
use cyclewise_sim::validation::{Report, Role};
use std::fmt::Write;

/// Retries per success: one row per overtaking limit, fair at the bottom; one column per hold.
pub(crate) fn phase(phase: &Phase) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}, {} threads on {}: retries per success\n",
        phase.job.workload, phase.job.threads, phase.machine.name
    );
    let first = phase.cells.first().map(Vec::as_slice).unwrap_or_default();
    let mut header = vec!["overtakes".to_owned()];
    header.extend(first.iter().map(|c| format!("hold {}", fixed(c.hold, 2))));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let rows = phase.cells.iter().rev().map(|row| {
        let name = row.first().map_or_else(String::new, |c| c.overtakes.to_string());
        std::iter::once(name)
            .chain(row.iter().map(|c| significant(c.retries_per_success, 3)))
            .collect()
    });
    let _ = writeln!(out, "{}", table(&header, rows, 0));
    let _ = writeln!(
        out,
        "{DIM}simulated; hold: time a core keeps the line after an exclusive fill, in transfers; overtakes: how many requests in a row may \
         be served before the oldest; {}; there, times may be off by: {}{DIM:#}",
        phase.own_laws(),
        band::sentence(&phase.machine, std::iter::once(phase.job.workload))
    );
    out
}

/// A limit beyond this stands for no limit.
const NO_END: f64 = 1e100;

/// The validation's targets, then its rows.
pub(crate) fn validation(report: &Report) -> String {
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
        let end = |x: f64| {
            if x.abs() < NO_END {
                significant(x, 3)
            } else {
                "…".to_owned()
            }
        };
        vec![
            t.machine.clone(),
            t.what.clone(),
            format!("{style}{word}{style:#}"),
            role(t.role).to_owned(),
            significant(t.seen, 3),
            format!("{} to {} {}", end(t.asked.0), end(t.asked.1), t.unit),
        ]
    });
    let mut out = format!(
        "{}\n\n",
        table(&["machine", "target", "", "", "simulated", "range"], targets, 4)
    );
    let rows = report.rows.iter().map(|r| {
        vec![
            r.machine.clone(),
            r.workload.clone(),
            role(r.role).to_owned(),
            r.threads.to_string(),
            significant(r.published, 3),
            significant(r.seen, 3),
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
        "{} of {} targets met",
        report.targets.len() - missed,
        report.targets.len()
    );
    out
}
