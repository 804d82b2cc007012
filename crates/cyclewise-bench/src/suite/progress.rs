//! Progress on stderr: a bar on a terminal, a line for each group elsewhere. No thread draws it.

use crate::runner;
use crate::sys::terminal;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Characters of the bar.
const WIDTH: usize = 30;
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Bar {
    drawn: Cell<Option<Instant>>,
    shown: bool,
}

impl Bar {
    pub(super) fn on_stderr() -> Self {
        Self {
            drawn: Cell::new(None),
            shown: std::io::stderr().is_terminal(),
        }
    }
}

impl runner::Progress for Bar {
    fn clear(&self) {
        if self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn step(&self, share: f64, line: &str) {
        let recent = self.drawn.get().is_some_and(|at| at.elapsed() < PAUSE);
        if self.shown && !recent {
            self.drawn.set(Some(Instant::now()));
            let columns = usize::from(terminal::stderr_columns().unwrap_or(80));
            let _ = write!(std::io::stderr(), "\r{}\x1b[K", drawing(share, line, columns));
        }
    }
}

fn drawing(share: f64, line: &str, columns: usize) -> String {
    let done = (share.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
    let bar = "█".repeat(done) + &"░".repeat(WIDTH - done);
    let text = format!("{bar} {:>3.0} % {line}", 100.0 * share);
    text.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fits_the_terminal() {
        assert_eq!(
            drawing(0.5, "sum: round 8", 100),
            format!("{}{}  50 % sum: round 8", "█".repeat(15), "░".repeat(15))
        );
        assert_eq!(drawing(2.0, "sum", 20).chars().count(), 19);
    }
}
