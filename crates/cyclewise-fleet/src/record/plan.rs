//! A planned job: the JSON schema `cyclewise.plan/1`, which `fleet plan` writes and `fleet join` reads.
//!
//! It holds nothing that depends on when or where it was written, so the same plan gives the same bytes.

use super::simulation::{MOST_POINTS, Sweep};
use super::{Tool, load};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = super::PLAN_SCHEMA;

/// The name of the file in the plan's folder.
pub const FILE: &str = "plan.json";

/// The most shards of a plan: more are no sweep's, and would not fit in memory.
pub const MOST_SHARDS: u32 = 100_000;

/// What a folder's job makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that planned it; the tasks must be run by the same version.
    pub tool: Tool,
    /// The planned command after the program's name: `simulate …`, `run …` or `verify …`.
    pub command: Vec<String>,
    /// Its parts.
    pub work: Work,
}

/// The parts of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Work {
    /// A sweep in shards, one array task each.
    Sweep {
        /// The number of shards.
        shards: u32,
        /// Points of the whole sweep.
        points: usize,
        /// The sweep, with its machines in full.
        sweep: Box<Sweep>,
    },
    /// A record of each node, or a verification on it.
    Records {
        /// Nodes; `None` if their number is the engine's affair.
        nodes: Option<u32>,
    },
}

impl Plan {
    /// Whether its nodes verify promises, and measure no record.
    pub fn is_verification(&self) -> bool {
        self.command.first().is_some_and(|word| word == "verify")
    }

    /// What each of its nodes makes, in a word.
    pub fn product(&self) -> &'static str {
        if self.is_verification() {
            "verification"
        } else {
            "record"
        }
    }

    /// Whether the nodes' names are hashed in its records.
    pub fn is_anonymous(&self) -> bool {
        let is = |word: &String| word == "--anonymous" || word.starts_with("--anonymous=");
        self.command.iter().any(is)
    }
}

/// Parses a plan; `name` is its name in errors.
///
/// # Errors
/// Exit 2: the text is not a plan, of a newer version, or modified after it was written.
pub fn from_str(name: &str, text: &str) -> Result<Plan> {
    parse(name, text).map_err(Error::in_one_line)
}

fn parse(name: &str, text: &str) -> Result<Plan> {
    load::check_schema(name, text, SCHEMA, "cyclewise fleet plan")?;
    let plan: Plan = serde_json::from_str(text).map_err(|e| {
        Error::usage(format!(
            "{name} declares {SCHEMA} but does not follow it: {e}; write it again with `cyclewise fleet plan`"
        ))
    })?;
    if let Work::Sweep {
        shards, points, sweep, ..
    } = &plan.work
        && (*points != sweep.points() || *points > MOST_POINTS || !(1..=MOST_SHARDS).contains(shards))
    {
        return Err(Error::usage(format!(
            "{name}: its sweep does not have {points} points in {shards} shards; the file was modified after it was written"
        )));
    }
    Ok(plan)
}
