//! The doctor's report as a table for the terminal.

use crate::machine::doctor::{Line, Report, Status};
use anstyle::{AnsiColor, Style};
use cyclewise_report::export::table::Look;
use std::fmt::Write;

/// Width of the status column: the longest word, `limited` or `unknown`, and two spaces.
const STATUS: usize = 9;
/// Marks a consequence.
const ARROW: &str = "-> ";

/// The table: each line's name, status and value, with its evidence and consequence below.
pub(crate) fn table(report: &Report, look: Look, colour: bool) -> String {
    let paint = Paint { colour };
    let name = report.lines.iter().map(|l| l.name.len()).max().unwrap_or(0) + 2;
    let indent = " ".repeat(name + STATUS);
    let width = look.columns.saturating_sub(indent.len()).max(20);
    let mut out = String::new();
    for Line { name: of, answer } in &report.lines {
        // Writing to a String cannot fail, so its results are dropped.
        let status = paint.pad(status_style(answer.status), answer.status.as_str(), STATUS);
        let head = paint.pad(Style::new().bold(), of, name);
        for (n, part) in wrap(&answer.value, width).iter().enumerate() {
            let before = if n == 0 {
                format!("{head}{status}")
            } else {
                indent.clone()
            };
            let _ = writeln!(out, "{before}{part}");
        }
        for part in wrap(&answer.evidence, width) {
            let _ = writeln!(out, "{indent}{}", paint.on(Style::new().dimmed(), &part));
        }
        for (n, part) in wrap(answer.consequence.as_deref().unwrap_or(""), width - ARROW.len())
            .iter()
            .enumerate()
        {
            let mark = if n == 0 { ARROW } else { "   " };
            let _ = writeln!(out, "{indent}{mark}{part}");
        }
    }
    let _ = writeln!(out, "{}", summary(&report.lines));
    out
}

fn summary(lines: &[Line]) -> String {
    let count = |status| lines.iter().filter(|l| l.answer.status == status).count();
    let parts =
        [Status::Ok, Status::Limited, Status::Absent, Status::Unknown].map(|s| format!("{} {}", count(s), s.as_str()));
    format!("{} lines: {}", lines.len(), parts.join(", "))
}

fn status_style(status: Status) -> Style {
    let colour = match status {
        Status::Ok => AnsiColor::Green,
        Status::Limited => AnsiColor::Yellow,
        Status::Absent => AnsiColor::Red,
        Status::Unknown => AnsiColor::Magenta,
    };
    Style::new().fg_color(Some(colour.into()))
}

struct Paint {
    colour: bool,
}

impl Paint {
    fn on(&self, style: Style, text: &str) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// Padding follows the colour: escape sequences have no width.
    fn pad(&self, style: Style, text: &str, width: usize) -> String {
        let padding = " ".repeat(width.saturating_sub(text.chars().count()));
        self.on(style, text) + &padding
    }
}

/// Breaks `text` at spaces into parts of at most `width` characters; splits longer words.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut left = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if let Some(last) = parts.last_mut().filter(|_| length < left) {
            last.push(' ');
            last.push_str(word);
            left -= length + 1;
            continue;
        }
        let characters: Vec<char> = word.chars().collect();
        for piece in characters.chunks(width) {
            left = width - piece.len();
            parts.push(piece.iter().collect());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::doctor::Answer;
    use crate::record::doctor::MachineHead;

    fn report() -> Report {
        let line = |name, status, value: &str, evidence: &str| Line {
            name,
            answer: Answer::new(status, value, evidence),
        };
        let mut lines = vec![
            line(
                "cpu",
                Status::Ok,
                "AMD EPYC (family 25 model 17 stepping 1)",
                "CPUID 0x1 EAX = 0x00a10f11",
            ),
            line(
                "tsc-invariant",
                Status::Limited,
                "constant rate according to the kernel; may stop in deep sleep",
                "CPUID 0x80000007: no such leaf, bit 8; /proc/cpuinfo flags: constant_tsc set, nonstop_tsc not set, tsc_reliable not set",
            ),
            line(
                "pmu",
                Status::Absent,
                "no hardware PMU",
                "perf_event_open: ENOENT 2 (No such file or directory)",
            ),
            line(
                "boost",
                Status::Unknown,
                "cannot be read",
                &format!("/sys/{}", "long-name/".repeat(12)),
            ),
        ];
        let consequences = [
            "a sample is rejected if the tick rate changed relative to CLOCK_MONOTONIC_RAW during it",
            "core cycles are derived from a calibrated chain of additions; each record says so",
        ];
        for (line, consequence) in lines[1..].iter_mut().zip(consequences) {
            line.answer.consequence = Some(consequence.to_owned());
        }
        Report::new(MachineHead::default(), lines)
    }

    fn look() -> Look {
        Look::new(None, false)
    }

    #[test]
    fn the_table_as_people_read_it() {
        insta::assert_snapshot!(table(&report(), look(), false));
    }

    #[test]
    fn no_line_is_wider_than_the_table() {
        let narrow = table(&report(), Look::new(Some(80), false), false);
        assert!(narrow.lines().all(|l| l.chars().count() <= 80), "{narrow}");
        let text = table(&report(), look(), false);
        assert!(text.lines().all(|l| l.chars().count() <= 100), "{text}");
        assert!(!text.lines().any(|l| l.ends_with(' ')), "{text}");
    }

    #[test]
    fn colour_adds_only_escapes() {
        let coloured = table(&report(), look(), true);
        assert_says!(coloured, "\x1b[32mok\x1b[0m");
        assert_eq!(
            anstream::adapter::strip_str(&coloured).to_string(),
            table(&report(), look(), false)
        );
    }

    #[test]
    fn wrapping() {
        assert_eq!(wrap("", 5), Vec::<String>::new());
        assert_eq!(wrap("ab cd e", 5), ["ab cd", "e"]);
        assert_eq!(wrap("abcdefg h", 3), ["abc", "def", "g h"]);
    }

    #[test]
    fn the_json_has_its_schema_and_statuses() {
        let value: serde_json::Value = serde_json::from_str(&crate::export::json::pretty(&report()).unwrap()).unwrap();
        assert_eq!(value["schema"], "cyclewise.doctor/1");
        assert_eq!(value["lines"][1]["status"], "limited");
        assert_eq!(value["lines"][0]["consequence"], serde_json::Value::Null);
    }
}
