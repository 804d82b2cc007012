//! Commands that `time` measured: what was run, how, and how the runs ended.

use super::Interval;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimedCommand {
    pub line: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Timed runs that came to an end.
    pub runs: usize,
    /// The number of those that failed, by how they ended: `exited with status 3`, `ended by SIGSEGV`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: BTreeMap<String, usize>,
    /// The exit status of each kept sample's run; where a signal ended it, 128 more than its number.
    #[serde(default)]
    pub exit_codes: Vec<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeSettings {
    /// What the samples are: `wall`, `user` or `cpu` time.
    pub by: String,
    /// The words of the shell; empty without one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shell: Vec<String>,
    /// The largest number of bytes by which the environment's size was varied from run to run; 0: it was not.
    #[serde(default)]
    pub environment_padding: u32,
}

/// One kind of time of two commands, whatever the verdict is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuantityRatio {
    /// `wall`, `user` or `cpu`.
    pub quantity: String,
    /// The medians of the two, seconds.
    pub medians: [f64; 2],
    /// The median ratio of the first to the second in rounds that kept both.
    pub ratio: f64,
    pub ratio_ci95: Interval,
}

impl TimedCommand {
    /// Runs that failed.
    pub fn failures(&self) -> usize {
        self.failed.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// `12 of 12 ended by SIGSEGV`; `None` if none failed.
    pub fn failures_in_words(&self) -> Option<String> {
        let mut kinds = self.failed.iter();
        let (how, n) = kinds.next()?;
        if kinds.len() == 0 {
            return Some(format!("{n} of {} {how}", self.runs));
        }
        let mut words = format!("{} of {} failed", self.failures(), self.runs);
        for (i, (how, n)) in self.failed.iter().enumerate() {
            let _ = write!(words, "{} {n} {how}", if i == 0 { ":" } else { "," });
        }
        Some(words)
    }

    /// Whether a larger share of this one's runs failed, or of the other's.
    pub fn fails_unlike(&self, other: &Self) -> bool {
        let share = |of: &Self, n: usize| of.failures() as u128 * n as u128;
        share(self, other.runs) != share(other, self.runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(runs: usize, failed: &[(&str, usize)]) -> TimedCommand {
        TimedCommand {
            runs,
            failed: failed.iter().map(|(how, n)| ((*how).to_string(), *n)).collect(),
            ..TimedCommand::default()
        }
    }

    #[test]
    fn failures_are_counted_by_how_the_runs_ended() {
        let said = |runs, failed| command(runs, failed).failures_in_words();
        assert_eq!(said(12, &[]), None);
        assert_eq!(
            said(12, &[("ended by SIGSEGV", 12)]).unwrap(),
            "12 of 12 ended by SIGSEGV"
        );
        assert_eq!(
            said(12, &[("ended by SIGSEGV", 2), ("exited with status 1", 3)]).unwrap(),
            "5 of 12 failed: 2 ended by SIGSEGV, 3 exited with status 1"
        );
    }

    #[test]
    fn shares_are_compared_and_not_numbers() {
        let always = command(12, &[("exited with status 1", 12)]);
        // One more round was begun when it was interrupted.
        assert!(!always.fails_unlike(&command(13, &[("ended by SIGSEGV", 13)])));
        assert!(always.fails_unlike(&command(12, &[])) && command(12, &[]).fails_unlike(&always));
        assert!(always.fails_unlike(&command(12, &[("exited with status 1", 11)])));
        assert!(!command(12, &[]).fails_unlike(&command(5, &[])));
    }
}
