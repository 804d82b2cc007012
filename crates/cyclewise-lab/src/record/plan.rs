//! A planned job: the JSON schema `cyclewise.plan/1`, which `fleet plan` writes and `fleet join` reads.
//!
//! It holds nothing that depends on when or where it was written, so the same plan gives the same bytes.

use super::Tool;
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.plan/1";

/// The name of the file in the plan's folder.
pub const FILE: &str = "plan.json";

/// What a folder's job makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that planned it; the tasks must be run by the same version.
    pub tool: Tool,
    /// The planned command after the program's name: `simulate …` or `run …`.
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
    },
    /// A record of each node.
    Records {
        /// Nodes; `None` if their number is the engine's affair.
        nodes: Option<u32>,
    },
}
