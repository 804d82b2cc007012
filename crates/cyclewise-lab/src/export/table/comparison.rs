//! The comparison of records.

use super::grid::{BOLD, DIM, YELLOW, coloured, table};
use crate::export::number::{estimate, interval, p_value, percent};
use crate::record::bounds;
use crate::record::compare::{CompareExperiment, CompareReport};
use comfy_table::Table;
use std::fmt::Write;

/// The comparison of records.
pub(crate) fn comparison(report: &CompareReport) -> String {
    let mut out = String::new();
    for (i, r) in report.records.iter().enumerate() {
        let role = if i == 0 { "base" } else { "other" };
        let _ = writeln!(
            out,
            "{BOLD}{role}{BOLD:#} {} ({}, {}, Linux {})",
            r.label, r.created, r.machine.cpu_model, r.machine.kernel
        );
    }
    for w in &report.warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {w}");
    }
    for e in &report.experiments {
        let floor = e.floor.map_or("noise floor unknown, so no verdict".to_string(), |f| {
            format!("noise floor {}", percent(f))
        });
        let _ = writeln!(
            out,
            "\n{BOLD}{}{BOLD:#}  {}\n{}, {floor}\n{}",
            e.name,
            e.question,
            e.unit.as_str(),
            compared(report, e)
        );
        for note in &e.notes {
            let _ = writeln!(out, "{DIM}note:{DIM:#} {note}");
        }
    }
    out
}

fn compared(report: &CompareReport, e: &CompareExperiment) -> Table {
    let rows = e.rows.iter().map(|r| {
        vec![
            r.variant.clone(),
            report
                .records
                .get(r.other)
                .map_or_else(String::new, |h| h.label.clone()),
            coloured(r.verdict),
            estimate(r.base_stats.mean, r.base_stats.ci95),
            estimate(r.other_stats.mean, r.other_stats.ci95),
            estimate(r.ratio, bounds(r.ratio_ci95)),
            interval(r.ratio, bounds(r.ratio_ci95)),
            estimate(r.difference, r.ci95),
            interval(r.difference, r.ci95),
            p_value(r.p),
            p_value(r.p_holm),
        ]
    });
    table(
        &[
            "variant",
            "in",
            "verdict",
            "base",
            "other",
            "ratio",
            "95 %",
            "difference",
            "95 %",
            "p",
            "p (Holm)",
        ],
        rows,
        3,
    )
}
