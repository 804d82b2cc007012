//! The samplers of `cyclewise time`: whole commands, timed from start until reaped.
//!
//! The prefix mail timed `make` and `hackbench` this way, by hand: five runs of one kernel, then five of the other. Here
//! the runner interleaves them.

mod command;
mod failure;
pub(crate) mod outliers;

pub(crate) use command::CommandSampler;

use crate::error::{Error, Result};
use crate::runner::{Control, Sampler, Setup};

/// How commands are run.
#[derive(Clone, Debug)]
pub(crate) struct TimeOptions {
    /// Run before each sample, untimed; it must succeed.
    pub prepare: Option<String>,
    /// Through `sh -c`; else split into words and executed.
    pub shell: bool,
    /// Time a command that fails instead of stopping.
    pub ignore_failure: bool,
    /// Untimed runs of each command before its first sample.
    pub warmup: u32,
    /// Samples to take of each command, if known: messages then say "run 5 of 20".
    pub runs: Option<u32>,
}

impl Default for TimeOptions {
    fn default() -> Self {
        Self {
            prepare: None,
            shell: true,
            ignore_failure: false,
            warmup: 0,
            runs: None,
        }
    }
}

/// Prepares `commands`; each is compared with the first.
///
/// # Errors
/// Exit 2: no command, an empty one, one with a NUL byte, or one whose quotes do not match.
pub(crate) fn setup(commands: &[String], opts: &TimeOptions) -> Result<Setup> {
    if commands.is_empty() {
        return Err(Error::usage(
            "time: give at least one command, each quoted as one argument",
        ));
    }
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    for (name, text) in names(commands).into_iter().zip(commands) {
        samplers.push(Box::new(CommandSampler::new(name, text, opts)?));
    }
    Ok(Setup {
        compare: (1..samplers.len()).map(|i| (i, 0)).collect(),
        samplers,
        control: Control::Split(0),
        notes: notes(opts),
        first_error_ends: true,
        ..Setup::default()
    })
}

/// The commands' texts, with a number after repeated ones.
fn names(commands: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for text in commands {
        let mut name = text.clone();
        let mut n = 1;
        // A numbered name may itself be the text of another command: count until it is free.
        while names.contains(&name) || (n > 1 && commands.contains(&name)) {
            n += 1;
            name = format!("{text} #{n}");
        }
        names.push(name);
    }
    names
}

fn notes(opts: &TimeOptions) -> Vec<String> {
    let mut notes = vec![
        match opts.shell {
            true => "run by `sh -c`, whose own start is part of the time; standard input is /dev/null",
            false => "run without a shell; standard input is /dev/null",
        }
        .to_string(),
        "user, sys, max-rss, switches and faults are the kernel's counts (wait4) for the command and the children that it \
         waited for; max-rss is that of the largest process, and never below this program's own peak, because Linux counts \
         the memory of the process that calls exec"
            .to_string(),
    ];
    if let Some(prepare) = &opts.prepare {
        notes.push(format!("before each run, untimed: {prepare}"));
    }
    if opts.warmup > 0 {
        notes.push(format!(
            "untimed runs of each command before its first sample: {}",
            opts.warmup
        ));
    }
    if opts.ignore_failure {
        notes.push("runs that failed were timed as well (--ignore-failure)".to_string());
    }
    notes
}

#[cfg(test)]
mod tests;
