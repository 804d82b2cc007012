//! The samplers of `cyclewise time`: whole commands, timed from start until reaped.
//!
//! The prefix mail timed `make` and `hackbench` this way, by hand: five runs of one kernel, then five of the other. Here
//! the runner interleaves them. Options have the names and the meaning that they have in hyperfine.

mod command;
mod failure;
mod launch;
mod line;
pub(crate) mod outliers;
mod parameters;
mod streams;

pub(crate) use launch::PADDING;
pub(crate) use line::Shell;
pub(crate) use parameters::{Named, all, listed, scanned};
pub(crate) use streams::{Input, Output};

use crate::error::{Error, Result};
use crate::record::{TimeSettings, TimedCommand};
use crate::runner::{Control, Sampler, Setup};
use command::CommandSampler;
use launch::Launcher;
use line::Line;
use std::rc::Rc;
use std::time::Duration;

/// Which time is the sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Quantity {
    /// From the command's start to its end
    #[default]
    Wall,
    /// On CPUs in the program and the children that it waits for
    User,
    /// On CPUs, in the program and in the kernel for it
    Cpu,
}

/// Which failed runs do not end the measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tolerate {
    /// None.
    #[default]
    Nothing,
    /// All: their times count.
    All,
    /// Those with these statuses: their times count.
    Codes(Vec<i32>),
    /// All, and their times do not count.
    Drop,
}

impl Tolerate {
    fn takes(&self, code: i32) -> bool {
        match self {
            Self::Nothing => false,
            Self::All | Self::Drop => true,
            Self::Codes(codes) => codes.contains(&code),
        }
    }
}

/// How commands are run.
#[derive(Clone, Debug)]
pub(crate) struct TimeOptions {
    /// What runs the lines.
    pub shell: Shell,
    /// Run once before the first round, for each command, with its parameters.
    pub setup: Option<String>,
    /// Run before each run, untimed: one for all commands, or one for each.
    pub prepare: Vec<String>,
    /// Run after each run, untimed, as `prepare`.
    pub conclude: Vec<String>,
    /// Run once after the last round, for each command.
    pub cleanup: Option<String>,
    /// What commands read.
    pub input: Input,
    /// Where their output goes: one for all commands, or one for each.
    pub output: Vec<Output>,
    /// Statuses that are no failures.
    pub ok_exit: Vec<i32>,
    /// Failures that do not end the measurement.
    pub tolerate: Tolerate,
    /// Untimed runs of each command before its first sample.
    pub warmup: u32,
    /// Samples to take of each command, if known: messages then say "run 5 of 20".
    pub runs: Option<u32>,
    /// The time after which a run is ended, and has failed.
    pub limit: Option<Duration>,
    /// What a sample is.
    pub by: Quantity,
    /// Whether the environment's size is varied from run to run.
    pub environment_padding: bool,
    /// Seeds that.
    pub seed: u64,
}

impl Default for TimeOptions {
    fn default() -> Self {
        Self {
            shell: Shell::default(),
            setup: None,
            prepare: Vec::new(),
            conclude: Vec::new(),
            cleanup: None,
            input: Input::Null,
            output: vec![Output::Null],
            ok_exit: vec![0],
            tolerate: Tolerate::Nothing,
            warmup: 0,
            runs: None,
            limit: None,
            by: Quantity::Wall,
            environment_padding: false,
            seed: 1,
        }
    }
}

/// Commands that are ready to be measured, and what is run before and after.
pub(crate) struct Prepared {
    /// The samplers.
    pub setup: Setup,
    /// What the record says of how they are run.
    pub settings: TimeSettings,
    /// What may be read otherwise than it was meant.
    pub warnings: Vec<String>,
    launcher: Rc<Launcher>,
    before: Vec<(Line, Output, String)>,
    after: Vec<(Line, Output, String)>,
}

impl Prepared {
    /// Runs the setup command of each, in their order.
    ///
    /// # Errors
    /// One fails: exit 1.
    pub(crate) fn begin(&self) -> Result<()> {
        let mut all = self.before.iter();
        all.try_for_each(|(line, output, of)| {
            self.launcher
                .step("setup", line, output, &format!(" before the runs of '{of}'"))
        })
    }

    /// Runs the cleanup command of each, whatever became of the others; the first failure.
    ///
    /// # Errors
    /// One fails: exit 1.
    pub(crate) fn end(&self) -> Result<()> {
        let all = self.after.iter();
        let done = all.map(|(line, output, of)| {
            self.launcher
                .step("cleanup", line, output, &format!(" after the runs of '{of}'"))
        });
        done.fold(Ok(()), Result::and)
    }
}

/// Prepares `commands`; each is compared with the first.
///
/// # Errors
/// Exit 2: no command, an empty one, one with a NUL byte, one whose quotes do not match; or numbers of commands around them that do not fit.
pub(crate) fn setup(commands: &[Named], options: &TimeOptions) -> Result<Prepared> {
    if commands.is_empty() {
        return Err(Error::usage(
            "time: give at least one command, each quoted as one argument",
        ));
    }
    let launcher = Rc::new(Launcher::new(options.clone()));
    let line = |kind: &str, text: Option<&String>, of: &Named| {
        text.map(|text| Line::new(kind, &of.fill(text), &options.shell))
            .transpose()
    };
    let (mut samplers, mut warnings): (Vec<Box<dyn Sampler>>, _) = (Vec::new(), Vec::new());
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (i, (name, command)) in names(commands).into_iter().zip(commands).enumerate() {
        let run = Line::new("command", &command.fill(&command.text), &options.shell)?;
        let prepare = line(
            "prepare command",
            one_of("prepare", &options.prepare, i, commands)?,
            command,
        )?;
        let conclude = line(
            "conclude command",
            one_of("conclude", &options.conclude, i, commands)?,
            command,
        )?;
        let setup = line("setup command", options.setup.as_ref(), command)?;
        let cleanup = line("cleanup command", options.cleanup.as_ref(), command)?;
        let output = one_of("output", &options.output, i, commands)?
            .cloned()
            .unwrap_or_default();
        let around = [&prepare, &conclude, &setup, &cleanup].into_iter().flatten();
        warnings.extend(
            std::iter::once(&run)
                .chain(around)
                .filter_map(|line| line.misread(&options.shell)),
        );
        before.extend(setup.map(|line| (line, output.clone(), run.text.clone())));
        after.extend(cleanup.map(|line| (line, output.clone(), run.text.clone())));
        let timed = TimedCommand {
            line: run.text.clone(),
            parameters: command.parameters.iter().cloned().collect(),
            ..TimedCommand::default()
        };
        samplers.push(Box::new(CommandSampler {
            name,
            run,
            prepare,
            conclude,
            output,
            launcher: launcher.clone(),
            warmup: options.warmup,
            timed,
        }));
    }
    if before.iter().any(|(line, ..)| line.text != before[0].0.text) {
        warnings.push(
            "each setup command runs once, and all of them before the first run, since the runs of all commands are interleaved: what one \
             leaves must not be what the next replaces; --prepare runs before each run"
                .to_owned(),
        );
    }
    warnings.dedup();
    Ok(Prepared {
        setup: Setup {
            compare: (1..samplers.len()).map(|i| (i, 0)).collect(),
            samplers,
            control: Control::Split(0),
            notes: notes(options).into_iter().chain(warnings.iter().cloned()).collect(),
            first_error_ends: true,
            ..Setup::default()
        },
        settings: settings(options),
        warnings,
        launcher,
        before,
        after,
    })
}

/// The one of these for the command at `i`: there is none, one for all, or one for each.
fn one_of<'a, T>(option: &str, all: &'a [T], i: usize, commands: &[Named]) -> Result<Option<&'a T>> {
    match all {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        many if many.len() == commands.len() => Ok(Some(&many[i])),
        many => Err(Error::usage(format!(
            "time: --{option} is given {} times for {} commands; give it once for all, or once for each",
            many.len(),
            commands.len()
        ))),
    }
}

/// What the commands are called, with a number after repeated ones.
fn names(commands: &[Named]) -> Vec<String> {
    let all: Vec<String> = commands.iter().map(Named::shown).collect();
    let mut names: Vec<String> = Vec::new();
    for text in &all {
        let mut name = text.clone();
        let mut n = 1;
        // A numbered name may itself be the text of another command: count until it is free.
        while names.contains(&name) || (n > 1 && all.contains(&name)) {
            n += 1;
            name = format!("{text} #{n}");
        }
        names.push(name);
    }
    names
}

fn settings(options: &TimeOptions) -> TimeSettings {
    TimeSettings {
        by: match options.by {
            Quantity::Wall => "wall",
            Quantity::User => "user",
            Quantity::Cpu => "cpu",
        }
        .to_owned(),
        shell: match &options.shell {
            Shell::None => Vec::new(),
            Shell::Words(words) => words.clone(),
        },
        environment_padding: if options.environment_padding { PADDING } else { 0 },
    }
}

fn notes(options: &TimeOptions) -> Vec<String> {
    let input = match &options.input {
        Input::Null => "standard input is /dev/null",
        Input::File(_) => "standard input is a file",
    };
    let mut notes = vec![
        match &options.shell {
            Shell::Words(words) => format!("run by `{} -c`, whose own start is part of the time; {input}", words.join(" ")),
            Shell::None => format!("run without a shell; {input}"),
        },
        "user, sys, max-rss, switches and faults are the kernel's counts (wait4) for the command and the children that it \
         waited for; max-rss is that of the largest process, and never below this program's own peak, because Linux counts \
         the memory of the process that calls exec"
            .to_string(),
    ];
    for (when, texts) in [
        ("before the first run of each, untimed", options.setup.as_slice()),
        ("before each run, untimed", &options.prepare),
        ("after each run, untimed", &options.conclude),
        ("after the last run of each, untimed", options.cleanup.as_slice()),
    ] {
        if !texts.is_empty() {
            notes.push(format!("{when}: {}", texts.join("; ")));
        }
    }
    if options.warmup > 0 {
        notes.push(format!(
            "untimed runs of each command before its first sample: {}",
            options.warmup
        ));
    }
    if options.environment_padding {
        notes.push(format!(
            "the environment had up to {PADDING} bytes more in each run, drawn anew, since its size moves the stack and so the times"
        ));
    }
    let tolerated = match &options.tolerate {
        Tolerate::Nothing => None,
        Tolerate::All => Some("runs that failed were timed as well (--ignore-failure)".to_string()),
        Tolerate::Codes(codes) => Some(format!(
            "runs that failed with status {} were timed as well",
            listed_codes(codes)
        )),
        Tolerate::Drop => Some("runs that failed were counted and not timed (--drop-failed)".to_string()),
    };
    notes.extend(tolerated);
    if options.ok_exit != [0] {
        notes.push(format!(
            "exit status {} was no failure (--ok-exit)",
            listed_codes(&options.ok_exit)
        ));
    }
    notes
}

fn listed_codes(codes: &[i32]) -> String {
    codes.iter().map(i32::to_string).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests;
