//! Progress on stderr: a bar on a terminal, plain lines elsewhere.

use crate::runner::Progress;
use crate::simulate::cores;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;

/// Steps of the bar.
const STEPS: u64 = 1000;
/// Elsewhere, a line each time this share of an experiment is done.
const LINE_EVERY: f64 = 0.25;

/// A line on stderr. Where it cannot be written, nobody reads it, and the work is not given up for that.
pub(super) fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// Where a command tells how far it is.
pub(super) struct Reporter {
    bar: Option<ProgressBar>,
    next_line: Cell<f64>,
}

impl Reporter {
    /// A bar if stderr is a terminal. No thread draws it: nothing runs beside a sample.
    pub(super) fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(STEPS), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self {
            bar,
            next_line: Cell::new(0.0),
        }
    }

    /// A line of its own.
    pub(super) fn say(&self, line: &str) {
        self.next_line.set(LINE_EVERY);
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(line)),
            None => tell(line),
        }
    }

    /// Takes the bar away.
    pub(super) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Reporter {
    fn step(&self, share: f64, line: &str) {
        self.at(share, line, " of the budget");
    }
}

impl Reporter {
    /// Does `work` on all cores; it tells, from any thread, how many of how many `things` are done.
    pub(super) fn shared<T: Send>(things: &str, work: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> T + Send) -> T {
        let shared = Mutex::new(Self::new());
        let step = |done: usize, all: usize| {
            // Whoever finds it taken leaves the line to the next.
            if let Ok(reporter) = shared.try_lock() {
                reporter.at(
                    done as f64 / all.max(1) as f64,
                    &format!("{done} of {all} {things}"),
                    "",
                );
            }
        };
        let done = cores::on_all(tell, || work(&step));
        if let Ok(reporter) = shared.into_inner() {
            reporter.done();
        }
        done
    }

    /// How far it is: `share` of all, and on what; `of` says what it is a share of.
    pub(super) fn at(&self, share: f64, line: &str, of: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position((share * STEPS as f64) as u64);
                bar.set_message(line.to_string());
            }
            None if share >= self.next_line.get() => {
                tell(&format!("{line} ({:.0} %{of})", 100.0 * share));
                self.next_line.set(share + LINE_EVERY);
            }
            None => {}
        }
    }
}
