//! One command as a subject: prepared, run and timed; its output is kept in case it fails.

use super::TimeOptions;
use super::failure::{self, RunNumber};
use crate::error::{Error, Result};
use crate::runner::{Sample, Sampler, metrics};
use crate::sys::memfd;
use crate::sys::spawn::{self, Finished};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::process::{Command, Stdio};

/// A command to be timed. Interrupting this program interrupts the command too: they share a process group.
pub(crate) struct CommandSampler {
    name: String,
    run: Line,
    prepare: Option<Line>,
    opts: TimeOptions,
    /// Both streams of every run, emptied before each: in memory, so that no disk is part of the time.
    output: File,
    warmed: bool,
    runs: u32,
}

/// A command line: its text, and the words to execute.
struct Line {
    text: String,
    words: Vec<String>,
}

impl CommandSampler {
    /// The command `text`, called `name` in the table.
    ///
    /// # Errors
    /// Exit 2 if the text of the command or of the prepare command is invalid; exit 3 if output cannot be kept.
    pub(crate) fn new(name: String, text: &str, opts: &TimeOptions) -> Result<Self> {
        let output = memfd::file(c"cyclewise-output").map_err(|e| {
            let what = "time: cannot create a file for the command's output (memfd_create)";
            Error::system(what, &e, "raise `ulimit -n`, or give fewer commands")
        })?;
        Ok(Self {
            name,
            run: Line::new("command", text, opts.shell)?,
            prepare: match &opts.prepare {
                Some(text) => Some(Line::new("prepare command", text, opts.shell)?),
                None => None,
            },
            opts: opts.clone(),
            output,
            warmed: false,
            runs: 0,
        })
    }

    /// Prepares and runs it once.
    fn once(&mut self, number: RunNumber) -> Result<Finished> {
        if let Some(prepare) = &self.prepare {
            let what = format!("prepare command '{}'", prepare.text);
            let when = format!(" before {number} of '{}'", self.run.text);
            let done = self.execute(prepare, &what, &when)?;
            if !done.status.success() {
                return Err(failure::explain(&what, &when, done.status, &self.output, ""));
            }
        }
        let what = format!("command '{}'", self.run.text);
        let when = format!(" ({number})");
        let done = self.execute(&self.run, &what, &when)?;
        if !done.status.success() && !self.opts.ignore_failure {
            let hint = "; if that is expected, use --ignore-failure";
            return Err(failure::explain(&what, &when, done.status, &self.output, hint));
        }
        Ok(done)
    }

    fn execute(&self, line: &Line, what: &str, when: &str) -> Result<Finished> {
        let run = || -> io::Result<Finished> {
            // Discards the output of earlier runs. The descriptors share one offset.
            self.output.set_len(0)?;
            (&self.output).seek(SeekFrom::Start(0))?;
            let mut command = Command::new(&line.words[0]);
            command
                .args(&line.words[1..])
                .stdin(Stdio::null())
                .stdout(self.output.try_clone()?)
                .stderr(self.output.try_clone()?);
            spawn::run(&mut command)
        };
        run().map_err(|e| {
            Error::check(format!(
                "{what} cannot be run{when}: {e}; {}",
                failure::why_not_started(&e)
            ))
        })
    }
}

impl Line {
    fn new(what: &str, text: &str, shell: bool) -> Result<Self> {
        let wrong = |why: &str| Error::usage(format!("time: the {what} {text:?} {why}"));
        if text.contains('\0') {
            return Err(wrong("has a NUL byte, which no command can have; remove it"));
        }
        if text.trim().is_empty() {
            return Err(wrong("is empty; give a command, quoted as one argument"));
        }
        let words = if shell {
            // `--` for texts that begin with a dash.
            ["sh", "-c", "--", text].map(String::from).to_vec()
        } else {
            let words =
                shlex::split(text).ok_or_else(|| wrong("has a quote or a backslash without its end; close it"))?;
            match words.first() {
                Some(program) if !program.is_empty() => words,
                _ => return Err(wrong("names no program; give one, or let a shell run it")),
            }
        };
        Ok(Self {
            text: text.to_string(),
            words,
        })
    }
}

impl Sampler for CommandSampler {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        if !self.warmed {
            for run in 1..=self.opts.warmup {
                self.once(RunNumber::Warmup(run, self.opts.warmup))?;
            }
            self.warmed = true;
        }
        self.runs += 1;
        let Finished { elapsed, usage, .. } = self.once(RunNumber::Run(self.runs, self.opts.runs))?;
        Ok(Sample {
            value: elapsed.as_secs_f64(),
            metrics: metrics([
                ("user", "s", usage.user_s),
                ("sys", "s", usage.system_s),
                ("max-rss", "KiB", usage.max_rss_kib as f64),
                ("voluntary-switches", "1", usage.voluntary_switches as f64),
                ("involuntary-switches", "1", usage.involuntary_switches as f64),
                ("minor-faults", "1", usage.minor_faults as f64),
                ("major-faults", "1", usage.major_faults as f64),
            ]),
            ..Sample::default()
        })
    }
}
