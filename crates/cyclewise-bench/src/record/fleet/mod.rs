//! A fleet's records without their samples: the JSON lines of schema `cyclewise.fleet/1`, which `fleet join` writes.
//!
//! The first line is the [`Head`]; each further line is a [`Member`] or a [`Checkup`]. Lines are sorted, and nothing in them
//! depends on when or in which order the files were read, so the same folder gives the same bytes.

mod checkup;
pub mod digest;
mod document;
pub mod lines;
pub mod member;
mod names;
mod of_record;
pub mod skim;

pub use super::doctor::Status;
pub use checkup::Checkup;
pub use document::Document;
pub use names::Names;

use super::clean::is_control;
use super::{Interval, Machine, Missing, Tool, Unit};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.fleet/1";

/// The options of `run` that name files: commands that differ in nothing else are of one job.
pub const FILES_OF_RUN: [&str; 5] = ["--anonymous", "--bmf", "--csv", "--html", "--json"];

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that joined.
    pub tool: Tool,
    /// How many lines of members follow.
    pub members: usize,
    /// How many lines of checkups follow those.
    pub checkups: usize,
    /// Files that were left out, and what is missing.
    pub problems: Vec<Problem>,
}

/// A file that is not part of the fleet, or a part that is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Problem {
    /// The file below the folder; of a missing part, the file that it would be, or the node.
    pub name: String,
    pub kind: ProblemKind,
    /// The reason, in one line without control characters.
    pub why: String,
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemKind {
    /// It was planned and is not there.
    Missing,
    /// It cannot be read to its end.
    Torn,
    /// Another version of the program or of the schema wrote it.
    Version,
    /// Another file has the same measurement, and that one counts.
    Duplicate,
    /// It belongs to another plan or sweep.
    Foreign,
    /// It follows the schema and contradicts itself.
    Mangled,
}

/// Why a text is not part of a fleet: what is wrong, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub ProblemKind, pub String);

impl Fault {
    /// The problem of the file of this name; its reason is in one line.
    pub fn in_file(self, file: &str) -> Problem {
        Problem {
            name: file.to_owned(),
            kind: self.0,
            why: clean(&self.1),
        }
    }
}

/// The text with spaces for its control characters.
fn clean(text: &str) -> String {
    text.replace(is_control, " ")
}

/// One record of one machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The file below the folder.
    pub file: String,
    /// A digest of the record's measurement: two files with the same digest are the same measurement.
    pub digest: String,
    /// When its run ended, RFC 3339.
    pub created: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The command line after the program's name.
    pub command: Vec<String>,
    pub machine: Machine,
    /// Runs that the record was made of; at least 1.
    pub runs: usize,
    /// One for each variant.
    pub rows: Vec<Row>,
    /// What was asked for and not measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// A variant's figure without its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The experiment. Members share their names: a fleet has millions of rows and hundreds of names.
    pub experiment: Arc<str>,
    pub variant: Arc<str>,
    /// The unit of the figures below: that of the experiment, not converted.
    pub unit: Unit,
    /// Whether the row's time is known not to be linear in its copies, so that its value is no cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_linear: bool,
    /// Samples kept.
    pub n: usize,
    /// The figure: of several runs where there were several, else of the headline.
    pub value: f64,
    pub ci95: Interval,
    /// The figure of each run; empty if there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<f64>,
}
