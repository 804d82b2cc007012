//! The ways of counting, and which of them is used.

use super::args::By;
use super::program::Program;
use crate::counts::Counts;
use crate::error::{Error, Result};
use std::process::ExitStatus;

/// A program to run and count.
pub(super) struct Launch<'a> {
    pub(super) program: &'a Program,
    /// Programs that are counted with it, at most.
    pub(super) processes: u32,
    /// Whether calls are followed, where the way can do that.
    pub(super) callers: bool,
}

pub(super) struct CountedRun {
    /// How the program ended.
    pub(super) status: ExitStatus,
    /// Whether a signal to that end came meanwhile, which its status need not tell.
    pub(super) asked_to_end: bool,
    pub(super) counts: Counts,
    /// What a reader has to know of it, a line each.
    pub(super) notes: Vec<String>,
}

/// A way of counting.
pub(super) trait Way {
    fn by(&self) -> By;

    /// Whether it works on this machine.
    ///
    /// # Errors
    /// Exit 3: what is missing, and what to do.
    fn ready(&self) -> Result<()>;

    /// Whether it can count this program.
    ///
    /// # Errors
    /// Exit 2: why not.
    fn check(&self, program: &Program) -> Result<()>;

    /// Runs a program to its end and counts it. Ctrl-C ends the program only.
    ///
    /// # Errors
    /// It was not started.
    fn run(&self, launch: &Launch<'_>) -> Result<CountedRun>;
}

/// The way that was asked for, or the first that works here.
///
/// # Errors
/// Exit 3: it does not work here, or none does; the line has every reason.
pub(super) fn choose(asked: Option<By>, ways: Vec<Box<dyn Way>>) -> Result<Box<dyn Way>> {
    let mut reasons = Vec::new();
    for way in ways {
        if asked.is_some_and(|by| by != way.by()) {
            continue;
        }
        match way.ready() {
            Ok(()) => return Ok(way),
            Err(why) if asked.is_some() => return Err(why),
            Err(why) => reasons.push(format!("by {}: {why}", way.by().name())),
        }
    }
    Err(Error::unsupported(match (asked, reasons.is_empty()) {
        (Some(by), _) => format!("--by {}: this build does not have it", by.name()),
        (None, true) => "this build has no way of counting".to_owned(),
        (None, false) => format!("no way of counting works here: {}", reasons.join("; ")),
    }))
}
