//! The comparison of records.

use super::grid::{BOLD, Column, DIM, Look, YELLOW, fitted, style, wrapped};
use crate::answer::{Finding, summary};
use crate::export;
use crate::export::fleet::{one_line, searched};
use crate::export::in_unit;
use crate::export::number::{NONE, brief, estimate, interval, p_value, significant};
use crate::export::record_name;
use crate::export::side_by_side::{MOST_COLUMNS, SideBySide, alike};
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, MOST_PAIRED};
use crate::record::fleet_report::FleetReport;
use crate::record::{Reason, Verdict, letters};
use std::fmt::Write;

/// The comparison of records: which records, a line for each experiment, then the rows.
pub fn comparison(report: &CompareReport, look: Look) -> String {
    let report = &*in_unit::comparison(report);
    let mut out = String::new();
    for (i, r) in report.records.iter().enumerate() {
        let name = record_name(r);
        let role = if i == 0 { " (base)" } else { "" };
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}{role}  {}",
            letters(i),
            wrapped(&name, look, 3 + role.len(), 4)
        );
    }
    out.push('\n');
    if let Some(fleet) = &report.fleet {
        out.push_str(&side_by_side(fleet, look));
        let _ = match report.records.len() > MOST_PAIRED {
            true => writeln!(
                out,
                "{}",
                wrapped(&export::side_by_side::not_paired(report.records.len()), look, 0, 2)
            ),
            false => writeln!(out, "{BOLD}Each against A{BOLD:#}"),
        };
    }
    let paired = match report.records.len() > MOST_PAIRED {
        true => &[][..],
        false => &report.experiments[..],
    };
    for e in paired {
        for (other, line) in lines(report, e) {
            let name = format!("{}{other}", e.name);
            let line = wrapped(&line, look, name.chars().count() + 2, 4);
            let _ = writeln!(out, "{BOLD}{name}{BOLD:#}: {line}");
        }
    }
    for e in paired {
        let question = wrapped(&e.question, look, e.name.chars().count() + 2, 2);
        let _ = writeln!(out, "\n{BOLD}{}{BOLD:#}  {question}", e.name);
        let _ = writeln!(out, "{}\n{}", e.unit.as_str(), compared(report, e, look));
        for note in &e.notes {
            let _ = writeln!(out, "{DIM}note:{DIM:#} {}", wrapped(note, look, 6, 4));
        }
    }
    if !report.warnings.is_empty() {
        out.push('\n');
    }
    let (warnings, more) = export::side_by_side::warnings(report);
    for w in warnings {
        let _ = writeln!(out, "{YELLOW}warning:{YELLOW:#} {}", wrapped(w, look, 9, 4));
    }
    if let Some(more) = more {
        let _ = writeln!(out, "{more}");
    }
    out
}

/// All records side by side: who is alike, the headline rows, outliers.
fn side_by_side(fleet: &FleetReport, look: Look) -> String {
    let mut out = format!("{}\n", wrapped(alike(fleet), look, 0, 2));
    let groups = export::side_by_side::groups(fleet);
    if groups.len() > 1 {
        let columns = vec![
            Column::new("records", 0, groups.iter().map(|(records, _)| records.clone())),
            Column::text("machine", groups.iter().map(|(_, label)| one_line(label))),
        ];
        let _ = writeln!(out, "{}", fitted(columns, look));
    }
    let SideBySide { titles, lines, spread } = SideBySide::new(fleet, MOST_COLUMNS);
    if !lines.is_empty() {
        let columns = titles.iter().enumerate().map(|(i, title)| {
            let cells = lines.iter().map(|line| line[i].clone());
            // Where there is no room, the spread between groups goes first, then that within them.
            let rank = i.saturating_sub(spread - 1);
            Column::new(title.as_str(), rank as u8, cells)
        });
        let _ = writeln!(
            out,
            "\n{BOLD}Headline rows{BOLD:#}\n{}",
            fitted(columns.collect(), look)
        );
    }
    if fleet.search.tests > 0 {
        let _ = writeln!(out, "{}", wrapped(&searched(fleet), look, 0, 2));
    }
    for outlier in &fleet.outliers {
        let _ = writeln!(
            out,
            "{YELLOW}▼{YELLOW:#} {}",
            wrapped(&one_line(&outlier.sentence), look, 2, 4)
        );
    }
    out.push('\n');
    out
}

/// The line of each compared record; the record is named only if there are several.
fn lines(report: &CompareReport, e: &CompareExperiment) -> Vec<(String, String)> {
    let others = 1..report.records.len();
    let line = |other: usize| {
        let rows = e.rows.iter().filter(|r| r.other == other);
        let findings: Vec<Finding> = rows
            .map(|r| Finding::between(r, e.unit, &r.variant, "the base"))
            .collect();
        let line = summary(&findings)?;
        let name = if report.records.len() > 2 {
            format!(" in {}", letters(other))
        } else {
            String::new()
        };
        Some((name, line))
    };
    others.filter_map(line).collect()
}

fn compared(report: &CompareReport, e: &CompareExperiment, look: Look) -> String {
    let several = report.records.len() > 2;
    let column = |title, rank, cell: &dyn Fn(&CompareRow) -> String| Column::new(title, rank, e.rows.iter().map(cell));
    let mut columns = vec![
        column("variant", 0, &|r| {
            if several {
                format!("{} in {}", r.variant, letters(r.other))
            } else {
                r.variant.clone()
            }
        }),
        column("base", 2, &|r| side(r, Of::Base)),
        column("other", 2, &|r| side(r, Of::Other)),
        column("ratio", 0, &|r| Finding::between(r, e.unit, "", "").times()),
        column("95 %", 1, &|r| Finding::between(r, e.unit, "", "").interval()),
    ];
    if look.wide {
        columns.extend([
            column("rounds", 1, &|r| r.basis.state.as_str().to_owned()),
            column("spread", 1, &|r| crate::export::number::percent(r.basis.spread)),
            column("p (runs)", 1, &|r| r.basis.p.map_or_else(|| NONE.to_owned(), p_value)),
            column("base mean", 1, &|r| estimate(r.base_stats.mean, r.base_stats.ci95)),
            column("other mean", 1, &|r| estimate(r.other_stats.mean, r.other_stats.ci95)),
            column("difference", 1, &|r| estimate(r.difference, r.ci95)),
            column("95 % of it", 1, &|r| interval(r.difference, r.ci95)),
            column("p (Welch)", 1, &|r| p_value(r.p)),
            column("p (Holm)", 1, &|r| p_value(r.p_holm)),
        ]);
    }
    let verdict = |r: &CompareRow| {
        let finding = Finding::between(r, e.unit, "", "");
        let colour = style(finding.verdict);
        let seen = if look.wide && !r.basis.seen.is_empty() {
            format!(" ({})", r.basis.seen)
        } else {
            String::new()
        };
        format!("{colour}{}{colour:#}{seen}", finding.verdict_alone())
    };
    columns.push(Column::text("verdict", e.rows.iter().map(verdict)));
    fitted(columns, look)
}

/// Which of the two records of a row.
#[derive(Clone, Copy)]
pub enum Of {
    Base,
    /// The record that the verdict is about.
    Other,
}

/// The median of one record with the digits of its interval, or the mean if there is no median; where slopes are no costs, the least and
/// the greatest over loops of each length, or a dash.
pub fn side(row: &CompareRow, of: Of) -> String {
    let (median, side) = match of {
        Of::Base => (row.basis.base, &row.base_stats),
        Of::Other => (row.basis.other, &row.other_stats),
    };
    let at_lengths = row.lengths.iter().map(|at| match of {
        Of::Base => at.base,
        Of::Other => at.other,
    });
    let half = (side.ci95[1] - side.ci95[0]) / 2.0;
    let ends = [f64::min, f64::max].map(|end| at_lengths.clone().reduce(end));
    if let [Some(least), Some(most)] = ends {
        format!("{}–{}", significant(least, 3), significant(most, 3))
    } else if row.verdict == Verdict::None && row.reason.as_ref().is_some_and(Reason::is_no_cost) {
        NONE.to_owned()
    } else if median > 0.0 {
        brief(median, [median - half, median + half])
    } else {
        brief(side.mean, side.ci95)
    }
}
