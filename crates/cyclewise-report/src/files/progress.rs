//! Progress on stderr: a bar on a terminal, plain lines elsewhere.

use super::output::tell;
use super::thread_pool;
use cyclewise_bench::runner::{Bar, Progress};
use std::cell::Cell;
use std::sync::Mutex;

/// Without a terminal, a line each time this share of an experiment is done.
const LINE_EVERY: f64 = 0.25;

/// Reports a command's progress.
pub struct Reporter {
    bar: Bar,
    next_line: Cell<f64>,
}

impl Reporter {
    pub fn on_stderr() -> Self {
        Self {
            bar: Bar::on_stderr(),
            next_line: Cell::new(0.0),
        }
    }

    /// Prints a line above the bar.
    pub fn say(&self, line: &str) {
        self.next_line.set(LINE_EVERY);
        self.bar.clear();
        tell(line);
    }

    /// Removes the bar.
    pub fn done(&self) {
        self.bar.clear();
    }
}

impl Progress for Reporter {
    fn step(&self, share: f64, line: &str) {
        self.at(share, line, " of the budget");
    }
}

impl Reporter {
    /// Runs `work` on all cores; it reports, from any thread, how many `things` of how many are done.
    pub fn shared<T: Send>(things: &str, work: impl FnOnce(&(dyn Fn(usize, usize) + Sync)) -> T + Send) -> T {
        let shared = Mutex::new(Self::on_stderr());
        let step = |done: usize, all: usize| {
            // A thread that finds the reporter locked skips its line.
            if let Ok(reporter) = shared.try_lock() {
                reporter.at(
                    done as f64 / all.max(1) as f64,
                    &format!("{done} of {all} {things}"),
                    "",
                );
            }
        };
        let done = thread_pool::on_all_cores(tell, || work(&step));
        if let Ok(reporter) = shared.into_inner() {
            reporter.done();
        }
        done
    }

    /// Reports `share` done, with `line` as the current work; `of` names the whole.
    pub fn at(&self, share: f64, line: &str, of: &str) {
        if self.bar.is_shown() {
            self.bar.step(share, line);
        } else if share >= self.next_line.get() {
            tell(&format!("{line} ({:.0} %{of})", 100.0 * share));
            self.next_line.set(share + LINE_EVERY);
        }
    }
}
