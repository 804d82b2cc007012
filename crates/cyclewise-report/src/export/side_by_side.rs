//! The records of a comparison side by side, as text: who is alike, and each headline row of all of them.

use super::fleet::{row_name, shares};
use super::number::{NONE, brief, count};
use crate::record::compare::{CompareReport, MOST_PAIRED};
use crate::record::fleet_report::{FleetReport, Group, MachineValue, RowSpread};
use crate::record::letters;

/// With more records than this, a row has its least and its greatest instead of all.
pub(super) const MOST_COLUMNS: usize = 8;

/// Each group: its records, and what it is.
pub(super) fn groups(fleet: &FleetReport) -> Vec<(String, String)> {
    let records = |group: usize| {
        let of_group = (0..fleet.machines.len()).map(letters).filter(|letter| {
            let machine = fleet.machines.iter().find(|m| m.name == *letter);
            machine.is_some_and(|m| m.group == group)
        });
        of_group.collect::<Vec<_>>().join(", ")
    };
    let line = |(i, g): (usize, &Group)| (records(i), g.label.clone());
    fleet.groups.iter().enumerate().map(line).collect()
}

pub(super) fn alike(fleet: &FleetReport) -> &'static str {
    match fleet.groups.len() {
        0 | 1 => "The records are of machines that are alike in every fact.",
        _ => "Records whose machines are alike in every fact, and what tells them from the others:",
    }
}

/// Where comparisons of each record with the first are, if they are too many to show.
pub(super) fn not_paired(records: usize) -> String {
    format!(
        "The comparisons of {} records with A are in --json; give at most {MOST_PAIRED} records to see them here.",
        count(records - 1)
    )
}

/// Warnings that are shown of more records than are paired.
const MOST_WARNINGS: usize = 20;

/// The warnings to show, most of which are on a pair, and the line that says how many more there are.
pub(super) fn warnings(report: &CompareReport) -> (&[String], Option<String>) {
    let most = match report.records.len() {
        0..=MOST_PAIRED => report.warnings.len(),
        _ => MOST_WARNINGS.min(report.warnings.len()),
    };
    let more = match report.warnings.len() - most {
        0 => None,
        n => Some(format!("and {} more warnings, in --json", count(n))),
    };
    (&report.warnings[..most], more)
}

/// The table of headline rows: titles, and a line for each row.
pub(super) struct SideBySide {
    pub(super) titles: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
    /// The first column of a spread: that within groups, and behind it that between them.
    pub(super) spread: usize,
}

impl SideBySide {
    /// With a column for each of at most `most` records; of more, with the least and the greatest.
    pub(super) fn new(fleet: &FleetReport, most: usize) -> Self {
        let headlines = || fleet.rows.iter().filter(|r| r.headline);
        let all = fleet.machines.len() <= most;
        let between = headlines().any(|r| r.components.as_ref().is_some_and(|c| c.between_groups.is_some()));
        let mut titles = vec!["row".to_owned()];
        match all {
            true => titles.extend((0..fleet.machines.len()).map(letters)),
            false => titles.extend(["records", "least", "greatest"].map(str::to_owned)),
        }
        let spread = titles.len();
        titles.push("spread, %".to_owned());
        if between {
            titles.push("between groups, %".to_owned());
        }
        let line = |row: &RowSpread| {
            let mut cells = vec![format!("{}, {}", row_name(row), row.unit.as_str())];
            match all {
                true => cells.extend((0..fleet.machines.len()).map(|i| value(fleet, row, &letters(i)))),
                false => cells.extend(ends(fleet, row)),
            }
            let parts = row.components.as_ref();
            cells.push(shares(parts.and_then(|c| c.between_machines)));
            if between {
                cells.push(shares(parts.and_then(|c| c.between_groups)));
            }
            cells
        };
        SideBySide {
            titles,
            lines: headlines().map(line).collect(),
            spread,
        }
    }
}

fn value(fleet: &FleetReport, row: &RowSpread, letter: &str) -> String {
    let of = row
        .values
        .iter()
        .find(|v| fleet.machines[v.machine as usize].name == letter);
    of.map_or_else(|| NONE.to_owned(), |v| brief(v.value, v.ci95))
}

/// How many records have the row, and the least and the greatest value, each with its record.
fn ends(fleet: &FleetReport, row: &RowSpread) -> [String; 3] {
    let by_value = |a: &&MachineValue, b: &&MachineValue| a.value.total_cmp(&b.value);
    let shown = |v: Option<&MachineValue>| {
        v.map_or_else(
            || NONE.to_owned(),
            |v| {
                format!(
                    "{} ({})",
                    brief(v.value, v.ci95),
                    fleet.machines[v.machine as usize].name
                )
            },
        )
    };
    [
        count(row.values.len()),
        shown(row.values.iter().min_by(by_value)),
        shown(row.values.iter().max_by(by_value)),
    ]
}
