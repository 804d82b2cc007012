//! `compare --fail-on`: which rows make the comparison fail.

use crate::answer::{LimitedRow, SlowerLimit};
use crate::error::{Error, Result};
use crate::record::Unit;
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow};
use std::str::FromStr;

/// `slower:5%`, or `slower:5%,EXPERIMENT,…`: rows that are slower by more than this share.
#[derive(Clone, Debug, PartialEq)]
pub struct FailOn {
    limit: SlowerLimit,
    /// The experiments looked at; all if empty.
    experiments: Vec<String>,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let limit = parts.next().unwrap_or_default().parse()?;
        let experiments: Vec<String> = parts.map(str::to_string).collect();
        if experiments.iter().any(String::is_empty) {
            return Err("a name of an experiment is empty; write slower:5%,EXPERIMENT,EXPERIMENT".to_string());
        }
        Ok(Self { limit, experiments })
    }
}

impl FailOn {
    /// Checks before anything is written that the rule could fail.
    ///
    /// # Errors
    /// Exit 2: an experiment is not in the comparison or has no rows there, or no experiment has.
    pub fn check_names(&self, report: &CompareReport) -> Result<()> {
        let with_rows: Vec<&str> = report
            .experiments
            .iter()
            .filter(|e| !e.rows.is_empty())
            .map(|e| e.name.as_str())
            .collect();
        if with_rows.is_empty() {
            return Err(Error::usage(
                "--fail-on has nothing to look at: the records have no variant with a verdict in common",
            ));
        }
        let Some(name) = self.experiments.iter().find(|name| !with_rows.contains(&name.as_str())) else {
            return Ok(());
        };
        let why = match report.experiments.iter().any(|e| e.name == *name) {
            true => "whose ranges get no verdict, so that it could never fail",
            false => "which the records do not have in common",
        };
        Err(Error::usage(format!(
            "--fail-on names {name:?}, {why}; it may name {}",
            with_rows.join(", ")
        )))
    }

    /// Fails if there is a row that is slower by more, or one of which that cannot be told.
    ///
    /// # Errors
    /// Exit 1 and 3, as of [`SlowerLimit::check`].
    pub fn check(&self, report: &CompareReport) -> Result<()> {
        let looked_at = |e: &&CompareExperiment| self.experiments.is_empty() || self.experiments.contains(&e.name);
        let experiments: Vec<&CompareExperiment> = report.experiments.iter().filter(looked_at).collect();
        let letter = |row: &CompareRow| {
            report
                .records
                .get(row.other)
                .map_or("", |r| r.label.split(':').next().unwrap_or(""))
        };
        let rows: Vec<LimitedRow> = experiments
            .iter()
            .flat_map(|e| e.rows.iter().map(move |row| (e, row)))
            .map(|(e, row)| LimitedRow {
                name: format!("{}/{} in {}", e.name, row.variant, letter(row)),
                unit: e.unit,
                verdict: row.verdict,
                ratio: row.ratio,
                ci95: row.ratio_ci95,
            })
            .collect();
        let single = experiments
            .iter()
            .flat_map(|e| &e.rows)
            .any(|row| row.basis.p.is_none());
        self.limit.check(
            &rows,
            advice(single, experiments.iter().all(|e| e.unit == Unit::Seconds)),
        )
    }
}

/// How rows that cannot be told could be.
fn advice(single: bool, commands: bool) -> &'static str {
    match (single, commands) {
        (false, _) => "`run --runs 10` narrows their intervals",
        (true, false) => {
            "records of one run cannot tell differences of 5 %, and those of `run --runs 5` can; or give a larger limit"
        }
        (true, true) => {
            "two records of `time` cannot tell differences of 5 %: time both commands in one record, or give a larger limit"
        }
    }
}
