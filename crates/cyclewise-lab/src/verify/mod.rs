//! Promises checked on this machine, and what came of it.

pub(crate) mod clock;
pub(crate) mod lab;
pub(crate) mod patch;
pub(crate) mod percpu;
pub(crate) mod refs;

use crate::error::Error;
use serde::Serialize;
use std::io;

/// The schema of a verification's JSON.
pub(crate) const SCHEMA: &str = "cyclewise.verify/1";

/// One promise.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    /// The name scripts use.
    pub name: &'static str,
    /// What is promised, in a sentence.
    pub promise: &'static str,
    /// What was seen, with its count.
    pub seen: String,
    /// How often it was tried.
    pub tries: usize,
    /// In how many tries the event that is counted happened.
    pub events: usize,
    /// Whether what was seen is compatible with the promise.
    pub holds: bool,
}

/// All promises of one subject.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verification {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What was verified.
    pub what: &'static str,
    /// Its promises.
    pub checks: Vec<Check>,
    /// What else was seen, and promised by nobody.
    pub notes: Vec<String>,
}

/// A thread of `verify what` could not be made.
fn no_thread(what: &str, cause: &io::Error) -> Error {
    let doing = format!("verify {what}: making a thread");
    Error::system(
        &doing,
        cause,
        "raise `ulimit -u` or the cgroup's pids.max, or free memory",
    )
}

impl Verification {
    /// Whether every promise holds.
    pub(crate) fn holds(&self) -> bool {
        self.checks.iter().all(|c| c.holds)
    }
}
