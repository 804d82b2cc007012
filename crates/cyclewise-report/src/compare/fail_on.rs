//! `compare --fail-on`: which rows make the comparison fail.

use crate::error::{Error, Result};
use crate::record::compare::{CompareReport, CompareRow};
use crate::record::{Unit, Verdict};
use std::str::FromStr;

/// `slower:5%`, or `slower:5%,EXPERIMENT,…`: rows that are slower by more than this share.
#[derive(Clone, Debug, PartialEq)]
pub struct FailOn {
    /// The share of the base's time.
    share: f64,
    /// The experiments looked at; all if empty.
    experiments: Vec<String>,
}

impl FromStr for FailOn {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut parts = text.split(',').map(str::trim);
        let rule = parts.next().unwrap_or_default();
        let percent = rule.strip_prefix("slower:").and_then(|p| p.strip_suffix('%'));
        let percent: Option<f64> = percent.and_then(|p| p.trim().parse().ok());
        let Some(percent) = percent.filter(|p| p.is_finite() && *p >= 0.0) else {
            return Err(format!(
                "{rule:?} is not a rule; write slower:5% or slower:5%,EXPERIMENT"
            ));
        };
        let experiments: Vec<String> = parts.map(str::to_string).collect();
        if experiments.iter().any(String::is_empty) {
            return Err("a name of an experiment is empty; write slower:5%,EXPERIMENT,EXPERIMENT".to_string());
        }
        Ok(Self {
            share: percent / 100.0,
            experiments,
        })
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
                "--fail-on has nothing to look at: the records have no row with a verdict in common",
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

    /// Fails if there is a row whose verdict is slower and whose whole interval lies beyond the share.
    ///
    /// # Errors
    /// Exit 1: the rows.
    pub fn check(&self, report: &CompareReport) -> Result<()> {
        let mut slower = Vec::new();
        for e in &report.experiments {
            if !self.experiments.is_empty() && !self.experiments.contains(&e.name) {
                continue;
            }
            for row in e.rows.iter().filter(|r| self.fails(r, e.unit)) {
                let letter = report
                    .records
                    .get(row.other)
                    .map_or("", |r| r.label.split(':').next().unwrap_or(""));
                let [low, high] = crate::record::bounds(row.ratio_ci95);
                slower.push(format!(
                    "{}/{} in {letter}: {:.3} [{low:.3}, {high:.3}]",
                    e.name, row.variant, row.ratio
                ));
            }
        }
        if slower.is_empty() {
            return Ok(());
        }
        Err(Error::check(format!(
            "slower by more than {} %: {}",
            100.0 * self.share,
            slower.join("; ")
        )))
    }

    fn fails(&self, row: &CompareRow, unit: Unit) -> bool {
        let limit = 1.0 + self.share;
        // An unknown bound excludes nothing.
        row.verdict == Verdict::Slower
            && match unit.more_is_faster() {
                false => row.ratio_ci95[0].is_some_and(|near| near > limit),
                true => row.ratio_ci95[1].is_some_and(|near| near < 1.0 / limit),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_others_refused() {
        let rule = |text: &str| text.parse::<FailOn>();
        assert_eq!(
            rule("slower:5%").unwrap(),
            FailOn {
                share: 0.05,
                experiments: vec![]
            }
        );
        assert_eq!(rule("slower:2.5%, popf,arc").unwrap().experiments, ["popf", "arc"]);
        for text in [
            "",
            "slower",
            "slower:5",
            "faster:5%",
            "slower:-1%",
            "slower:x%",
            "slower:inf%",
            "slower:5%,",
            "5%",
        ] {
            assert!(rule(text).unwrap_err().contains("slower:5%"), "{text}");
        }
    }
}
