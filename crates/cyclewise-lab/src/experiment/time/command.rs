//! One command as a subject: prepared, run, timed and concluded, with a count of how its runs ended.

use super::failure::{self, RunNumber};
use super::launch::Launcher;
use super::line::Line;
use super::streams::Output;
use super::{Quantity, Tolerate};
use crate::error::{Error, Result};
use crate::record::TimedCommand;
use crate::runner::{Sample, Sampler, metrics};
use crate::sys::interrupt;
use crate::sys::spawn::Finished;
use std::rc::Rc;

pub(crate) struct CommandSampler {
    pub(super) name: String,
    pub(super) run: Line,
    pub(super) prepare: Option<Line>,
    pub(super) conclude: Option<Line>,
    pub(super) output: Output,
    pub(super) launcher: Rc<Launcher>,
    /// Untimed runs before the first sample that are still to be done.
    pub(super) warmup: u32,
    pub(super) timed: TimedCommand,
}

impl CommandSampler {
    /// Prepares, runs and concludes it once; and how it failed, if it did.
    fn once(&mut self, number: RunNumber) -> Result<(Finished, Option<String>)> {
        if interrupt::asked() {
            return Err(Error::check("interrupted"));
        }
        self.step("prepare", self.prepare.as_ref(), &format!(" before {number}"))?;
        let what = format!("command '{}'", self.run.text);
        let when = format!(" ({number})");
        let iteration = number.iteration();
        let done = self
            .launcher
            .run(&self.run, &self.output, Some(&iteration), &what, &when)?;
        self.step("conclude", self.conclude.as_ref(), &format!(" after {number}"))?;
        let launcher = self.launcher.clone();
        let options = &launcher.options;
        let code = failure::code(done.status);
        let failed = done.over_limit || !options.ok_exit.contains(&code);
        if failed && !options.tolerate.takes(code) && !interrupt::asked() {
            if let RunNumber::Run(..) = number {
                self.count(&done, failed);
            }
            let hint = "; if that is expected, use --ignore-failure";
            let printed = self.printed(&done, &iteration)?;
            let ended = failure::ended(&done, options.limit);
            return Err(Error::check(format!("{what} {ended}{when}{hint}{printed}")));
        }
        Ok((done, failed.then(|| failure::kind(&done))))
    }

    /// Runs one of the commands around it, which has to succeed.
    fn step(&self, kind: &str, line: Option<&Line>, when: &str) -> Result<()> {
        let when = format!("{when} of '{}'", self.run.text);
        line.map_or(Ok(()), |line| self.launcher.step(kind, line, &self.output, &when))
    }

    /// What it printed at the end: it is prepared and run once more for that, since its output is not kept.
    fn printed(&self, done: &Finished, iteration: &str) -> Result<String> {
        if self.output == Output::Inherit {
            return Ok("; its output is above".to_owned());
        }
        if !failure::may_run_again(done) {
            return Ok(String::new());
        }
        self.step("prepare", self.prepare.as_ref(), " before another run")?;
        let printed = self.launcher.printed(&self.run, Some(iteration));
        self.step("conclude", self.conclude.as_ref(), " after another run")?;
        Ok(printed)
    }

    fn count(&mut self, done: &Finished, failed: bool) {
        self.timed.runs += 1;
        self.timed.exit_codes.push(failure::code(done.status));
        if failed {
            *self.timed.failed.entry(failure::kind(done)).or_default() += 1;
        }
    }
}

impl Sampler for CommandSampler {
    fn name(&self) -> &str {
        &self.name
    }

    fn timed(&self) -> Option<TimedCommand> {
        Some(self.timed.clone())
    }

    fn sample(&mut self) -> Result<Sample> {
        let launcher = self.launcher.clone();
        let options = &launcher.options;
        while self.warmup > 0 {
            self.once(RunNumber::Warmup(options.warmup - self.warmup + 1, options.warmup))?;
            self.warmup -= 1;
        }
        let number = RunNumber::Run(self.timed.runs as u32 + 1, options.runs);
        let (done, failed) = self.once(number)?;
        // What the signal has ended took less than its time.
        if interrupt::asked() {
            return Err(Error::check("interrupted"));
        }
        self.count(&done, failed.is_some());
        let Finished { elapsed, usage, .. } = done;
        let wall = elapsed.as_secs_f64();
        let (value, others) = match options.by {
            Quantity::Wall => (wall, None),
            Quantity::User => (usage.user_s, Some(wall)),
            Quantity::Cpu => (usage.user_s + usage.system_s, Some(wall)),
        };
        let mut all = metrics([
            ("user", "s", usage.user_s),
            ("sys", "s", usage.system_s),
            ("max-rss", "KiB", usage.max_rss_kib as f64),
            ("voluntary-switches", "1", usage.voluntary_switches as f64),
            ("involuntary-switches", "1", usage.involuntary_switches as f64),
            ("minor-faults", "1", usage.minor_faults as f64),
            ("major-faults", "1", usage.major_faults as f64),
        ]);
        all.extend(others.map(|wall| ("wall".into(), "s".into(), wall)));
        Ok(Sample {
            value,
            metrics: all,
            unsuccessful: done.over_limit || (failed.is_some() && matches!(options.tolerate, Tolerate::Drop)),
            ..Sample::default()
        })
    }
}
