//! Checks of the library's and the lab's promises on this machine.

pub(crate) mod clock;
pub(crate) mod lab;
pub(crate) mod patch;
pub(crate) mod percpu;
pub(crate) mod refs;

use crate::error::Error;
pub(crate) use crate::record::verification::SCHEMA;
use crate::sys::interrupt;
use serde::Serialize;
use std::io;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Check {
    /// The name scripts use.
    pub name: &'static str,
    pub promise: &'static str,
    /// The observation, with its count.
    pub seen: String,
    pub tries: usize,
    /// Tries in which the counted event happened.
    pub events: usize,
    /// Whether the promise holds; `None`: what was seen shows neither that it does nor that it is broken.
    pub holds: Option<bool>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verification {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    pub what: &'static str,
    pub checks: Vec<Check>,
    /// Observations that no promise covers.
    pub notes: Vec<String>,
}

/// Whether a check that began then and has this time is to end: by the clock, or because a signal asks for it.
fn is_over(begun: Instant, time: Duration) -> bool {
    begun.elapsed() >= time || interrupt::asked()
}

/// The error if `verify what` could not create a thread.
fn no_thread(what: &str, cause: &io::Error) -> Error {
    let doing = format!("verify {what}: making a thread");
    Error::system(
        &doing,
        cause,
        "raise `ulimit -u` or the cgroup's pids.max, or free memory",
    )
}

impl Verification {
    /// The names of the promises of which this is known.
    pub(crate) fn names(&self, holds: Option<bool>) -> Vec<&'static str> {
        self.checks
            .iter()
            .filter(|c| c.holds == holds)
            .map(|c| c.name)
            .collect()
    }
}
