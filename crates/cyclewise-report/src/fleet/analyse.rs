//! From a fleet's records to its report.

use super::columns::{self, Fleet};
use super::figures::{Column, Measured};
use super::row::{self, Row};
use super::{differences, features, group, headline, outliers, promises};
use crate::error::{Error, Result};
use crate::number;
use crate::record::Tool;
use crate::record::fleet::{Checkup, Member, Problem};
use crate::record::fleet_report::{FleetReport, SCHEMA};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What a report is asked for.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Facts that the machines of a group have in common; all if empty.
    pub by: Vec<String>,
    /// The false discovery rate of outliers, and that of differences.
    pub fdr: f64,
}

/// Analyses `members`. The report does not depend on their order.
pub fn analyse(
    members: Vec<Member>,
    checkups: &[Checkup],
    problems: Vec<Problem>,
    settings: &Settings,
) -> Result<FleetReport> {
    measured(Measured::of_members(members), checkups, problems, settings)
}

/// Analyses a fleet whose figures are in columns.
///
/// # Errors
/// Exit 2 for an unknown fact, and for a rate that is none.
pub fn measured(
    measured: Measured,
    checkups: &[Checkup],
    problems: Vec<Problem>,
    settings: &Settings,
) -> Result<FleetReport> {
    if !(settings.fdr > 0.0 && settings.fdr < 1.0) {
        let text = format!(
            "--fdr: {} is not a valid false discovery rate; use a value from 0 to 1, for example 0.05",
            settings.fdr
        );
        return Err(Error::usage(text));
    }
    let facts = group::facts(&settings.by)?;
    let mut fleet = columns::columns(measured, &facts);
    let mut problems = problems;
    problems.append(&mut fleet.problems);
    problems.sort_unstable();
    let columns = std::mem::take(&mut fleet.columns);
    let headlines = headlines(&columns);
    let described = columns
        .into_par_iter()
        .zip(headlines)
        .map(|(column, is_headline)| row::describe(column, &fleet, is_headline));
    let mut rows: Vec<Row> = described.collect();
    rows.sort_by_key(|row| !row.spread.headline);
    let outliers = outliers::search(&mut rows, &fleet, settings.fdr);
    let differences = differences::compare(&rows, &fleet, settings.fdr);
    let mut notes = notes(&fleet, &rows);
    notes.extend(outliers.notes);
    notes.extend(differences.notes);
    Ok(FleetReport {
        schema: SCHEMA.to_owned(),
        tool: Tool::this(),
        records: fleet.records,
        machines: fleet.machines,
        groups: fleet.groups,
        rows: rows.into_iter().map(|row| row.spread).collect(),
        unlike: outliers.unlike,
        outliers: outliers.outliers,
        search: outliers.search,
        differences: differences.differences,
        pairs: differences.pairs,
        verified: promises::verified(checkups),
        features: features::features(checkups),
        problems,
        notes,
    })
}

/// Whether each column is its experiment's headline. A variant that some records have in another unit is one in each.
fn headlines(columns: &[Column]) -> Vec<bool> {
    let mut experiments: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for column in columns {
        experiments
            .entry(&column.experiment)
            .or_default()
            .push((&column.variant, column.firsts));
    }
    let chosen: BTreeMap<&str, &str> = experiments
        .into_iter()
        .filter_map(|(experiment, variants)| Some((experiment, headline::headline(experiment, &variants)?)))
        .collect();
    columns
        .iter()
        .map(|c| {
            chosen
                .get(&*c.experiment)
                .is_some_and(|variant| *variant == &*c.variant)
        })
        .collect()
}

fn notes(fleet: &Fleet, rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    if fleet.left_out > 0 {
        let figures = number::counted(fleet.left_out, "figure");
        notes.push(format!(
            "{figures} left out: zero, negative, or not linear in the copies of the operation, and so no cost"
        ));
    }
    if let [first, ..] = fleet.changed.as_slice() {
        let nodes = number::counted(fleet.changed.len(), "node");
        notes.push(format!("{nodes} changed between records, for example {first}; each counts as a machine of every group that it was in"));
    }
    if fleet.groups.len() > 1 && fleet.groups.iter().all(|group| group.machines < 2) {
        notes.push(
            "no group has two machines: the spread between groups cannot be told from that between machines".to_owned(),
        );
    }
    let split = || rows.iter().filter_map(|row| row.spread.components.as_ref());
    if split().next().is_some() && split().all(|components| components.between_runs.is_none()) {
        notes.push("too few machines have two runs: the spread between machines contains that between runs".to_owned());
    }
    notes
}
