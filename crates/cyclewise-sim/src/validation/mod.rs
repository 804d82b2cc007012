//! Holds the simulator against figures that others measured, and says of each whether it was fitted to or predicted.
//!
//! [`run`] plays every target out and gives a [`Report`], which `markdown.rs` writes as the document in the tree. A target
//! that is missed is reported with its figure like any other. A machine's parameters are those of its file, or what
//! [`crate::fit`] makes of the figures that are marked as used; they are the same for all of its targets.

mod markdown;
mod quadratic;
mod rows;
mod scaling;
#[cfg(test)]
mod tests;
mod thunderx2;

use crate::{Job, Length, Machine, Outcome, simulate};
use serde::Serialize;

/// What a figure was used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The machine was fitted to it: that it is met shows that the laws can be so, and no more.
    Fitted,
    /// The machine was made without it.
    Predicted,
}

/// One published figure beside the simulated one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The machine's name.
    pub machine: String,
    /// What was run, with its relax policy where it has one.
    pub workload: String,
    /// On how many threads.
    pub threads: u32,
    /// What was published.
    pub published: f64,
    /// What came out.
    pub seen: f64,
    /// Unit of both.
    pub unit: String,
    /// Whether it was used.
    pub role: Role,
}

impl Row {
    /// How far off it is, as a share of what was published: 0.1 is 10 % too much.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.seen / self.published - 1.0
    }
}

/// Something that must come out, as a figure in a range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// The machine's name.
    pub machine: String,
    /// What must come out, in words.
    pub what: String,
    /// Least and most that is asked for.
    pub asked: (f64, f64),
    /// What came out.
    pub seen: f64,
    /// Unit of both.
    pub unit: &'static str,
    /// Whether the machine was made with it in mind.
    pub role: Role,
    /// Who published what is asked for.
    pub source: &'static str,
}

impl Target {
    /// Whether it came out.
    #[must_use]
    pub fn is_met(&self) -> bool {
        (self.asked.0..=self.asked.1).contains(&self.seen)
    }
}

/// A machine that was used, and what it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Used {
    /// Its name.
    pub machine: String,
    /// What was measured, and where.
    pub about: String,
    /// Its fields that were fitted or assumed.
    pub fitted: Vec<String>,
    /// What they were fitted to.
    pub to: &'static str,
}

/// Everything that was held against figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The machines.
    pub machines: Vec<Used>,
    /// What must come out.
    pub targets: Vec<Target>,
    /// Row by row.
    pub rows: Vec<Row>,
}

impl Report {
    /// The targets that were missed.
    pub fn missed(&self) -> impl Iterator<Item = &Target> {
        self.targets.iter().filter(|target| !target.is_met())
    }

    fn extend(&mut self, part: Self) {
        self.machines.extend(part.machines);
        self.targets.extend(part.targets);
        self.rows.extend(part.rows);
    }
}

/// Plays everything out. The same program gives the same report on every machine.
///
/// # Panics
/// Never: the presets are read by a test, and the jobs fit them.
#[must_use]
pub fn run() -> Report {
    let mut report = rows::client_cores();
    report.extend(thunderx2::all());
    report.extend(scaling::refcounts());
    report.extend(quadratic::exchanges());
    report.extend(rows::held_out());
    report
}

/// A preset as a machine.
fn preset(name: &str) -> Machine {
    let preset = Machine::preset(name).expect("a preset of this crate");
    preset.machine().expect("a test reads every preset")
}

/// A job of this crate's own on a preset.
fn play(machine: &Machine, job: &Job) -> Outcome {
    // Long enough that what is rare has happened: one thread that runs into its limit sends all of them to the lock.
    let threads = u64::from(job.threads);
    let job = Job {
        length: Length::Operations {
            warm_up: 50 * threads,
            measured: 1_000.max(50 * threads),
        },
        ..job.clone()
    };
    simulate(machine, &job).unwrap_or_else(|error| panic!("{} on {}: {error}", job.workload, machine.name))
}

fn used(machine: &Machine, to: &'static str) -> Used {
    Used {
        machine: machine.name.clone(),
        about: machine.about.clone(),
        fitted: machine.fitted.clone(),
        to,
    }
}
