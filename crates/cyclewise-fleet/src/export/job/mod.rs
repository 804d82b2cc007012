//! The files of a planned job: scripts for Slurm, and the same without it.
//!
//! # Invariants
//! 1. No file depends on the folder that it is written to: tasks run there, and name files below it.
//! 2. A file appears under a result's name at once and whole, so a task may end at any moment and run any number of times.
//!
//! # References
//! sbatch(1), "job arrays" and `--requeue`; `get_argument` in Slurm's `src/sbatch/opt.c`: the quoting of `#SBATCH` lines.

mod words;

pub(crate) use words::{command_line, directive};

use crate::error::{Error, Result};
use crate::export::json;
use crate::record::plan::{self, Plan, Work};
use askama::Template;

/// The last index of an array by default: one less than Slurm's default `MaxArraySize`.
pub(crate) const LAST_OF_ARRAY: u32 = 1000;

/// The names of all files of any job.
pub(crate) const FILES: [&str; 7] = [
    plan::FILE,
    "array.sbatch",
    "records.sbatch",
    "record-node",
    "join.sbatch",
    "submit",
    "local",
];

/// What a plan's scripts say besides the plan.
pub(crate) struct Launch {
    /// The program on the nodes.
    pub program: String,
    /// Options of sbatch for the job that does the work, a word or a pair of words each.
    pub options: Vec<String>,
    /// Those of them that the joining job gets too.
    pub join_options: Vec<String>,
    /// The file of the key that names of nodes are hashed with, if they are.
    pub key: Option<&'static str>,
}

/// Name and content of each file of the job; `plan.json` is the last.
///
/// # Errors
/// Exit 2: a word cannot be quoted for a shell.
pub(crate) fn files(plan: &Plan, launch: &Launch) -> Result<Vec<(&'static str, String)>> {
    let program = &command_line([&launch.program])?;
    let (subcommand, arguments) = plan.command.split_at(plan.command.len().min(1));
    let (subcommand, arguments) = (&command_line(subcommand)?, &command_line(arguments)?);
    let options: &[String] = &lines(&launch.options);
    let join = render(&Join {
        program,
        options: &lines(&launch.join_options),
    })?;
    let mut files = match plan.work {
        Work::Sweep { shards, points, .. } => {
            let array = shards.min(LAST_OF_ARRAY);
            let script = Array {
                shards,
                array,
                points,
                program,
                subcommand,
                arguments,
                options,
            };
            vec![
                ("array.sbatch", render(&script)?),
                ("join.sbatch", join),
                ("submit", render(&SubmitArray { shards, array })?),
                ("local", render(&LocalArray { shards, program })?),
            ]
        }
        Work::Records { nodes } => vec![
            (
                "records.sbatch",
                render(&Records {
                    nodes,
                    program,
                    options,
                    key: launch.key,
                })?,
            ),
            (
                "record-node",
                render(&RecordNode {
                    program,
                    subcommand,
                    arguments,
                    key: launch.key,
                })?,
            ),
            ("join.sbatch", join),
            ("submit", render(&SubmitRecords {})?),
            (
                "local",
                render(&LocalRecords {
                    program,
                    key: launch.key,
                })?,
            ),
        ],
    };
    files.push((plan::FILE, json::pretty(plan)?));
    Ok(files)
}

fn lines(options: &[String]) -> Vec<String> {
    options.iter().map(|option| directive(option)).collect()
}

fn render(script: &impl Template) -> Result<String> {
    let text = script.render().map_err(|e| {
        Error::check(format!(
            "a script of the job could not be written: {e}; please report this"
        ))
    })?;
    // askama leaves out the last line end.
    Ok(text.trim_end().to_owned() + "\n")
}

#[derive(Template)]
#[template(path = "job/array.sbatch", escape = "none")]
struct Array<'a> {
    shards: u32,
    array: u32,
    points: usize,
    program: &'a str,
    subcommand: &'a str,
    arguments: &'a str,
    options: &'a [String],
}

#[derive(Template)]
#[template(path = "job/join.sbatch", escape = "none")]
struct Join<'a> {
    program: &'a str,
    options: &'a [String],
}

#[derive(Template)]
#[template(path = "job/submit-array.sh", escape = "none")]
struct SubmitArray {
    shards: u32,
    array: u32,
}

#[derive(Template)]
#[template(path = "job/local-array.sh", escape = "none")]
struct LocalArray<'a> {
    shards: u32,
    program: &'a str,
}

#[derive(Template)]
#[template(path = "job/records.sbatch", escape = "none")]
struct Records<'a> {
    nodes: Option<u32>,
    program: &'a str,
    options: &'a [String],
    key: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "job/record-node.sh", escape = "none")]
struct RecordNode<'a> {
    program: &'a str,
    subcommand: &'a str,
    arguments: &'a str,
    key: Option<&'static str>,
}

#[derive(Template)]
#[template(path = "job/submit-records.sh", escape = "none")]
struct SubmitRecords {}

#[derive(Template)]
#[template(path = "job/local-records.sh", escape = "none")]
struct LocalRecords<'a> {
    program: &'a str,
    key: Option<&'static str>,
}

#[cfg(test)]
mod tests;
