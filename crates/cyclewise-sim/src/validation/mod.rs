//! Compares the simulator with published measurements, each marked as fitted or predicted.
//!
//! [`run`] simulates every target and returns a [`Report`], which `markdown.rs` writes as VALIDATION.md. Missed targets are
//! reported too. A machine's parameters are those of its file, and the same for all of its targets. Each figure is the mean of five
//! seeds, of runs with the length that every job has by default.

mod estimate;
mod markdown;
mod quadratic;
mod rows;
mod scaling;
#[cfg(test)]
mod tests;
mod thunderx2;

pub use estimate::{Estimate, SEEDS};

use crate::Machine;
use serde::Serialize;

/// How a figure was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The machine was fitted to it; meeting it only shows that the laws permit it.
    Fitted,
    /// The machine does not depend on it.
    Predicted,
}

/// A published figure and the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidatedRow {
    /// The machine's name.
    pub machine: String,
    /// The workload, with its relax policy if it has one.
    pub workload: String,
    /// The number of threads.
    pub threads: u32,
    /// The published figure.
    pub published: f64,
    /// The simulated figure: the mean over the seeds.
    pub seen: f64,
    /// Its 95 % interval.
    pub interval: (f64, f64),
    /// Whether every run was stationary.
    pub stationary: bool,
    /// Unit of both.
    pub unit: String,
    /// How the figure was used.
    pub role: Role,
    /// The command that simulates it, with the first seed.
    pub command: String,
}

impl ValidatedRow {
    /// The error relative to the published figure: 0.1 is 10 % too high.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.seen / self.published - 1.0
    }
}

/// A required range of a simulated figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// The machine's name.
    pub machine: String,
    /// The figure, in words.
    pub what: String,
    /// The range.
    pub asked: (f64, f64),
    /// The simulated figure: the mean of the first estimate that is in the range, or else of the first.
    pub seen: f64,
    /// One estimate, or two if the two starts lead to two regimes.
    pub estimates: Vec<Estimate>,
    /// Unit of both.
    pub unit: &'static str,
    /// Whether the machine was fitted to it.
    pub role: Role,
    /// The publication.
    pub source: &'static str,
}

impl Target {
    /// Whether the whole interval of the simulated figure is in the range. Of two regimes, the published test was in one, and the other
    /// need not be in the range.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.estimates.iter().any(|estimate| estimate.is_within(self.asked))
    }

    /// Whether the two starts lead to two regimes.
    #[must_use]
    pub fn has_two_regimes(&self) -> bool {
        self.estimates.len() > 1
    }
}

/// What a target is, without its figures.
struct Asked {
    what: String,
    asked: (f64, f64),
    unit: &'static str,
    role: Role,
    source: &'static str,
}

impl Asked {
    fn with(self, machine: &Machine, estimates: Vec<Estimate>) -> Target {
        let met = estimates.iter().find(|estimate| estimate.is_within(self.asked));
        let seen = met.or(estimates.first()).map_or(f64::NAN, |estimate| estimate.mean);
        Target {
            machine: machine.name.clone(),
            what: self.what,
            asked: self.asked,
            seen,
            estimates,
            unit: self.unit,
            role: self.role,
            source: self.source,
        }
    }
}

/// A machine of the report.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidatedMachine {
    /// Its name.
    pub machine: String,
    /// What it is, and the sources of its figures.
    pub about: String,
    /// Its values that were fitted or assumed.
    pub fitted: Vec<String>,
    /// The figures they were fitted to.
    pub to: &'static str,
}

/// The validation report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The machines.
    pub machines: Vec<ValidatedMachine>,
    /// The targets.
    pub targets: Vec<Target>,
    /// The rows.
    pub rows: Vec<ValidatedRow>,
}

impl Report {
    /// The missed targets.
    pub fn missed(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| !target.is_met())
    }

    fn extend(&mut self, part: Self) {
        self.machines.extend(part.machines);
        self.targets.extend(part.targets);
        self.rows.extend(part.rows);
    }
}

/// Simulates all targets and rows. The same program gives the same report on every host.
///
/// # Panics
/// Never: a test parses the presets, and the jobs fit them.
#[must_use]
pub fn run() -> Report {
    let mut report = rows::client_cores();
    report.extend(thunderx2::all());
    report.extend(scaling::refcounts());
    report.extend(quadratic::exchanges());
    report.extend(rows::graviton2());
    report
}

/// A preset as a machine.
fn preset(name: &str) -> Machine {
    let preset = Machine::preset(name).expect("a preset of this crate");
    preset.machine().expect("a test reads every preset")
}

fn validated(machine: &Machine, to: &'static str) -> ValidatedMachine {
    ValidatedMachine {
        machine: machine.name.clone(),
        about: machine.about.clone(),
        fitted: machine.fitted.clone(),
        to,
    }
}
