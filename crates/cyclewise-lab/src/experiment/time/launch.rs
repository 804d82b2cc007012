//! Starts commands: with their streams, their environment and their limit of time.

use super::TimeOptions;
use super::failure;
use super::line::Line;
use super::streams::{Output, Tail, capture};
use crate::error::{Error, Result};
use crate::sys::interrupt;
use crate::sys::spawn::{self, Bounds, Drain, Finished};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::process::Command;

/// Bytes by which the environment's size is varied at most: one page, as the study of its effect did.
pub(crate) const PADDING: u32 = 4096;

/// The variable that pads the environment.
const PADDED: &str = "CYCLEWISE_ENVIRONMENT_PADDING";

/// Starts commands as the options say.
pub(super) struct Launcher {
    pub(super) options: TimeOptions,
    padding: RefCell<Xoshiro256PlusPlus>,
}

impl Launcher {
    pub(super) fn new(options: TimeOptions) -> Self {
        Self {
            padding: RefCell::new(Xoshiro256PlusPlus::seed_from_u64(options.seed)),
            options,
        }
    }

    fn command(&self, line: &Line, iteration: Option<&str>) -> Command {
        let mut command = Command::new(&line.words[0]);
        command.args(&line.words[1..]);
        if let Some(iteration) = iteration {
            command.env("CYCLEWISE_ITERATION", iteration);
            // For scripts that were written for hyperfine.
            command.env("HYPERFINE_ITERATION", iteration);
        }
        if self.options.environment_padding {
            let bytes = self.padding.borrow_mut().random_range(0..PADDING);
            command.env(PADDED, "X".repeat(bytes as usize));
        }
        command
    }

    /// Runs a line, which is `what`, to its end. `iteration` is its number, if it is a run of a timed command.
    ///
    /// # Errors
    /// It cannot be started, or its streams cannot be opened.
    pub(super) fn run(
        &self,
        line: &Line,
        output: &Output,
        iteration: Option<&str>,
        what: &str,
        when: &str,
    ) -> Result<Finished> {
        let mut command = self.command(line, iteration);
        let pipe = output.connect(&self.options.input, &mut command)?;
        let mut drop_all = |_: &[u8]| ();
        let drain = pipe.map(|pipe| Drain {
            pipe,
            take: &mut drop_all,
            to_its_end: true,
        });
        let bounds = Bounds {
            limit: self.options.limit.filter(|_| iteration.is_some()),
            // What is begun after a signal cleans up.
            ignores_signals: interrupt::asked(),
        };
        spawn::run(command, bounds, drain).map_err(|e| failure::not_started(line, what, when, &e))
    }

    /// Runs a command around those that are timed, which has to succeed.
    ///
    /// # Errors
    /// It does not; or a signal asks to end.
    pub(super) fn step(&self, kind: &str, line: &Line, output: &Output, when: &str) -> Result<()> {
        let what = format!("{kind} command '{}'", line.text);
        let done = self.run(line, output, None, &what, when)?;
        if done.status.success() {
            return Ok(());
        }
        let printed = match output {
            _ if interrupt::asked() => String::new(),
            Output::Inherit => "; its output is above".to_owned(),
            _ if failure::may_run_again(&done) => self.printed(line, None),
            _ => String::new(),
        };
        Err(Error::check(format!(
            "{what} {}{when}{printed}",
            failure::ended(&done, None)
        )))
    }

    /// Runs a line once more, and returns what it printed at the end.
    pub(super) fn printed(&self, line: &Line, iteration: Option<&str>) -> String {
        let mut command = self.command(line, iteration);
        let mut tail = Tail::default();
        let run = || -> Result<Finished> {
            let pipe = capture(&self.options.input, &mut command)?;
            let mut take = |bytes: &[u8]| tail.push(bytes);
            let drain = Drain {
                pipe,
                take: &mut take,
                to_its_end: false,
            };
            let bounds = Bounds {
                limit: self.options.limit,
                ..Bounds::default()
            };
            spawn::run(command, bounds, Some(drain)).map_err(|e| Error::check(e.to_string()))
        };
        match run() {
            Ok(done) if done.status.success() => "; run once more, it succeeded".to_owned(),
            Ok(_) => failure::printed(&tail.text()),
            Err(error) => format!("; it could not be run once more for its output: {error}"),
        }
    }
}
