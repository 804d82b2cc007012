//! The data of the fleet page's template.
//!
//! # Invariants
//! 1. The page's size is bounded, whatever the number of machines, groups, outliers and problems: lists have a limit, and what is
//!    beyond it is counted and said to be in the JSON or the CSV.

mod row;

use super::page::STYLE;
use super::plot::{SERIES, shortened};
use super::table::{Table, number, words};
use crate::error::Result;
use crate::export::fleet::{
    differences, differing, fact, in_common, kind, measured, medians, one_line, promises, searched, shares,
};
use crate::export::number::{count, counted, p_value, significant};
use crate::record::fleet_report::{FleetReport, RowSpread};
use askama::Template;
use row::RowView;

const MOST_GROUPS: usize = 60;
const MOST_ROWS: usize = 60;
const MOST_OUTLIERS: usize = 300;
const MOST_DIFFERENCES: usize = 100;
const MOST_PROBLEMS: usize = 200;
/// Nodes that are named beside a feature.
const MOST_NODES: usize = 10;
/// The most characters of a text from a file.
const MOST_TEXT: usize = 400;

/// Many machines.
#[derive(Template)]
#[template(path = "fleet.html")]
pub(super) struct FleetPage {
    title: String,
    style: &'static str,
    series: usize,
    answer: Vec<String>,
    searched: String,
    /// A sentence each.
    unlike: Vec<String>,
    unlike_more: String,
    outliers: Option<Table>,
    outliers_more: String,
    promises: Vec<String>,
    promises_more: String,
    differences: Vec<String>,
    differences_more: String,
    groups: Table,
    groups_more: String,
    common: Vec<(String, String)>,
    overview: Option<Table>,
    rows: Vec<RowView>,
    features: Option<Table>,
    problems: Option<Table>,
    problems_more: String,
    notes: Vec<String>,
}

impl FleetPage {
    pub(super) fn new(report: &FleetReport) -> Result<Self> {
        let headlines: Vec<&RowSpread> = report.rows.iter().filter(|r| r.headline).collect();
        let plotted = &headlines[..headlines.len().min(MOST_ROWS)];
        let rows = plotted
            .iter()
            .enumerate()
            .map(|(i, row)| RowView::new(report, row, format!("row-{}", i + 1), i == 0))
            .collect::<Result<_>>()?;
        let promises = promises(report);
        let sentences: Vec<&str> = differences(report).collect();
        Ok(FleetPage {
            title: format!(
                "{} in {}",
                counted(report.machines.len(), "machine"),
                counted(report.groups.len(), "group")
            ),
            style: STYLE,
            series: SERIES,
            answer: answer(report),
            searched: capitalized(&searched(report)),
            unlike: report
                .unlike
                .iter()
                .take(MOST_OUTLIERS)
                .map(|u| short(&u.sentence))
                .collect(),
            unlike_more: beyond(report.unlike.len(), MOST_OUTLIERS, "JSON"),
            outliers: (!report.outliers.is_empty()).then(|| outliers(report)),
            outliers_more: beyond(report.outliers.len(), MOST_OUTLIERS, "JSON"),
            promises_more: beyond(promises.len(), MOST_DIFFERENCES, "JSON"),
            promises: promises.iter().take(MOST_DIFFERENCES).map(|line| short(line)).collect(),
            differences: sentences.iter().take(MOST_DIFFERENCES).map(|s| short(s)).collect(),
            differences_more: beyond(sentences.len(), MOST_DIFFERENCES, "JSON"),
            groups: groups(report),
            groups_more: beyond(report.groups.len(), MOST_GROUPS, "JSON"),
            common: in_common(&report.groups),
            overview: (!headlines.is_empty()).then(|| overview(plotted)),
            rows,
            features: (!report.features.is_empty()).then(|| features(report)),
            problems: (!report.problems.is_empty()).then(|| problems(report)),
            problems_more: beyond(report.problems.len(), MOST_PROBLEMS, "JSON"),
            notes: report.notes.iter().map(|n| short(n)).collect(),
        })
    }
}

/// A text from a file, of bounded length.
fn short(text: &str) -> String {
    one_line(&shortened(text, MOST_TEXT))
}

/// The sentence that says what a list left out.
fn beyond(all: usize, most: usize, where_they_are: &str) -> String {
    match all.saturating_sub(most) {
        0 => String::new(),
        n => format!(
            "The first {} are listed; the other {} are in the {where_they_are}.",
            count(most),
            count(n)
        ),
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + chars.as_str()
}

/// What the report answers besides the outliers, which follow, in a few lines.
fn answer(report: &FleetReport) -> Vec<String> {
    let mut lines = vec![measured(report)];
    lines.extend(differences(report).take(2).map(short));
    let lacking: Vec<String> = report
        .features
        .iter()
        .filter(|f| !f.unlike.is_empty())
        .take(5)
        .map(|f| short(&f.name))
        .collect();
    if !lacking.is_empty() {
        lines.push(format!("Nodes are not alike in: {}", lacking.join(", ")));
    }
    lines
}

fn outliers(report: &FleetReport) -> Table {
    let mut table = Table::new("Rows in which a machine is far from its group");
    table.words("Machine");
    table.words("Row");
    table.numbers("Value", "");
    table.numbers("Ratio", "to the group's median");
    table.numbers("Away", "standard deviations");
    table.numbers("q", "");
    table.words("Runs beyond");
    for o in report.outliers.iter().take(MOST_OUTLIERS) {
        let machine = report.machines.get(o.machine);
        let group = machine.and_then(|m| report.groups.get(m.group));
        let group = group.map_or_else(String::new, |g| format!("group {}", g.name));
        table.rows.push(vec![
            words(machine.map_or_else(String::new, |m| short(&m.name))).with_detail(group),
            words(short(&o.variant)).with_detail(short(&o.experiment)),
            number(significant(o.value, 3)).with_detail(o.unit.as_str()),
            number(significant(o.ratio, 3)),
            number(significant(o.sigmas, 2)),
            number(p_value(o.q)),
            words(format!("{} of {}", count(o.runs_beyond), count(o.runs))),
        ]);
    }
    table
}

/// The groups, and the facts in which they differ.
fn groups(report: &FleetReport) -> Table {
    let facts = differing(&report.groups);
    let mut table = Table::new("The groups, and what tells them apart");
    table.words("Group");
    table.numbers("Machines", "");
    if facts.is_empty() {
        table.words("What it is");
    }
    for name in &facts {
        table.words(&short(name));
    }
    for group in report.groups.iter().take(MOST_GROUPS) {
        let mut cells = vec![words(short(&group.name)), number(count(group.machines))];
        if facts.is_empty() {
            cells.push(words(short(&group.label)));
        }
        cells.extend(
            facts
                .iter()
                .map(|name| words(fact(group, name).map(short).unwrap_or_default())),
        );
        table.rows.push(cells);
    }
    table
}

/// Each headline row in a line.
fn overview(rows: &[&RowSpread]) -> Table {
    let mut table = Table::new(
        "Medians of the groups, and the spread of machines: standard deviations of the logarithm in per cent, with 95\u{a0}% intervals",
    );
    table.words("Row");
    table.numbers("Machines", "");
    table.numbers("Medians", "least to greatest");
    table.numbers("Between groups", "%");
    table.numbers("Between machines", "of a group, %");
    table.numbers("Between runs", "of a machine, %");
    for row in rows {
        let parts = row.components.as_ref();
        table.rows.push(vec![
            words(short(&row.variant)).with_detail(short(&row.experiment)),
            number(count(row.machines)),
            number(medians(row)),
            number(shares(parts.and_then(|c| c.between_groups))),
            number(shares(parts.and_then(|c| c.between_machines))),
            number(shares(parts.and_then(|c| c.between_runs))),
        ]);
    }
    table
}

fn features(report: &FleetReport) -> Table {
    let mut table = Table::new("Features by what the doctor of each node says, and the nodes that are not like most");
    table.words("Feature");
    table.words("Nodes");
    table.words("Unlike most");
    for f in &report.features {
        let counts = f
            .counts
            .iter()
            .map(|(status, n)| format!("{} {}", count(*n), short(status)));
        let mut nodes: Vec<String> = f
            .unlike
            .iter()
            .take(MOST_NODES)
            .map(|(node, status, value)| short(&format!("{node}: {status} ({value})")))
            .collect();
        if f.unlike.len() > MOST_NODES {
            nodes.push(format!("and others; {} are in the JSON", count(f.unlike.len())));
        }
        table.rows.push(vec![
            words(short(&f.name)),
            words(counts.collect::<Vec<_>>().join(", ")),
            words(nodes.join("; ")),
        ]);
    }
    table
}

fn problems(report: &FleetReport) -> Table {
    let mut table = Table::new("Files and nodes that are not in the report");
    table.words("Name");
    table.words("What");
    table.words("Why");
    for p in report.problems.iter().take(MOST_PROBLEMS) {
        table
            .rows
            .push(vec![words(short(&p.name)), words(kind(p.kind)), words(short(&p.why))]);
    }
    table
}

#[cfg(test)]
mod tests;
