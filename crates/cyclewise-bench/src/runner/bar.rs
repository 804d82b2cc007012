//! A bar on a terminal. No thread draws it, so nothing runs beside a sample.

use super::Progress;
use crate::record::clean::cleaned;
use crate::sys::terminal;
use std::cell::Cell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Characters of the bar.
const WIDTH: usize = 30;
/// Between two drawings.
const PAUSE: Duration = Duration::from_millis(100);

pub struct Bar {
    drawn: Cell<Option<Instant>>,
    shown: bool,
}

impl Bar {
    /// Nothing where stderr is no terminal.
    pub fn on_stderr() -> Self {
        Self {
            drawn: Cell::new(None),
            shown: std::io::stderr().is_terminal(),
        }
    }

    pub fn is_shown(&self) -> bool {
        self.shown
    }
}

impl Progress for Bar {
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
    let text = format!("{bar} {:>3.0} % {}", 100.0 * share, cleaned(line));
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
