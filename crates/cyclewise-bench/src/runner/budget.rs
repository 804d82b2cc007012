//! The number of rounds: until every variant is precise enough, within bounds of rounds and time.
//!
//! The rule uses the width of each variant's interval and never a difference between variants, so stopping does not bias
//! any p.

use super::Guards;
use crate::stats;
use std::time::Duration;

/// How much time a run may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// One experiment within 10 s, all within 60 s.
    Quick,
    /// Minutes for all.
    #[default]
    Normal,
    /// The source's own parameters, however long they take.
    Full,
}

/// Bounds of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Samples that every variant must keep; time alone cuts them.
    pub least: usize,
    /// Rounds after which the measurement ends at any precision.
    pub most: usize,
    /// Half-width of the 95 % interval of each variant's median to reach, as a share of the median; infinite if only
    /// `least` counts.
    pub target: f64,
    /// Time after which no further round begins.
    pub time: Duration,
}

/// Time for all experiments of `--quick`, their preparation included: the rest of the minute is for the last round of each,
/// which may end late, for experiments with a time of their own, and for the figures.
const QUICK_TOGETHER: Duration = Duration::from_secs(46);

/// No experiment gets less, however late it is.
const QUICK_LEAST: Duration = Duration::from_millis(500);

/// An experiment's share of that time. A round of threads or processes takes a hundred times as long as one of instructions.
fn weight(guards: Guards) -> u32 {
    match guards {
        Guards::ThisThread => 1,
        Guards::WholeMachine => 2,
    }
}

/// The least reference for precision: below a median of this many ticks, a share of it is finer than the clock.
const YARDSTICK_TICKS: f64 = 1.0;

impl Budget {
    /// The budget of `mode` for samples of a few instructions, or for samples that take the whole machine.
    pub fn of_mode(mode: Mode, guards: Guards) -> Self {
        let budget = |least, most, target, seconds| Self {
            least,
            most,
            target,
            time: Duration::from_secs(seconds),
        };
        match (guards, mode) {
            // Alone; several share a minute, see `among`.
            (Guards::ThisThread, Mode::Quick) => budget(100, 1_000, 0.004, 6),
            (Guards::ThisThread, Mode::Normal) => budget(300, 2_000, 0.002, 20),
            (Guards::ThisThread, Mode::Full) => budget(1_000, 10_000, 0.001, 120),
            (Guards::WholeMachine, Mode::Quick) => budget(6, 60, 0.01, 7),
            (Guards::WholeMachine, Mode::Normal) => budget(10, 60, 0.005, 40),
            // The source's own parameters, however long they take; twenty runs, as in seed 000's last table.
            (Guards::WholeMachine, Mode::Full) => budget(20, 40, f64::INFINITY, 24 * 3600),
        }
    }

    /// The same for the first of the experiments that are `left` in a run that has `spent` so much: all of `--quick` ends
    /// within a minute, for any number of them, and what one does not use is the others'.
    pub fn among(self, mode: Mode, left: &[Guards], spent: Duration) -> Self {
        let (Mode::Quick, Some(first)) = (mode, left.first()) else {
            return self;
        };
        let all: u32 = left.iter().map(|guards| weight(*guards)).sum();
        let share = QUICK_TOGETHER.saturating_sub(spent) * weight(*first) / all;
        Self {
            time: self.time.min(share.max(QUICK_LEAST)),
            ..self
        }
    }

    /// `n` kept samples of each, however long they take; at most as many again to replace rejected ones.
    pub fn runs(n: usize) -> Self {
        Self {
            least: n,
            most: 2 * n,
            target: f64::INFINITY,
            time: Duration::MAX,
        }
    }

    /// A number of rounds of a matrix, whose cells are too many to wait for the widest interval.
    pub fn of_matrix(rounds: usize, time: Duration) -> Self {
        Self {
            least: rounds,
            most: rounds,
            target: f64::INFINITY,
            time,
        }
    }

    /// A process' part of the budget, of so many processes that share it.
    pub(super) fn part(self, of: u32) -> Self {
        let share = |rounds: usize| rounds.div_ceil(of.max(1) as usize);
        Self {
            least: share(self.least),
            most: share(self.most),
            // The median of n samples is known to one part in the root of n.
            target: self.target * f64::from(of).sqrt(),
            time: self.time / of.max(1),
        }
    }

    /// Whether the variant with these samples needs no more. `ticks`: the unit is ticks per operation.
    pub fn is_met(&self, samples: &[f64], ticks: bool) -> bool {
        samples.len() >= self.least && (self.target.is_infinite() || self.is_precise(samples, ticks))
    }

    /// Whether the target precision is reached.
    pub fn is_precise(&self, samples: &[f64], ticks: bool) -> bool {
        Self::precision(samples, ticks).is_some_and(|p| p <= self.target)
    }

    /// Half-width of the median's 95 % interval, which takes dependent samples into account, as a share of the median (of
    /// `YARDSTICK_TICKS`, if the median is below it). `None` if the samples are too few for an interval.
    pub fn precision(samples: &[f64], ticks: bool) -> Option<f64> {
        let median = stats::Median::of_series(samples)?;
        let [Some(low), Some(high)] = median.interval(0.95) else {
            return None;
        };
        let least = if ticks { YARDSTICK_TICKS } else { f64::MIN_POSITIVE };
        Some((high - low) / 2.0 / median.median.abs().max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_is_the_share_of_the_median_but_not_below_a_tick() {
        // Without correlation, and the extremes of six bound the median: half of 0.05 of 0.1.
        let samples = [0.08, 0.12, 0.09, 0.13, 0.10, 0.10];
        let fine = Budget::precision(&samples, false).unwrap();
        assert!((fine - 0.25).abs() < 1e-9, "{fine}");
        let coarse = Budget::precision(&samples, true).unwrap();
        assert!((fine / coarse - 10.0).abs() < 1e-9);
        assert_eq!(Budget::precision(&samples[..5], true), None, "five have no interval");
    }

    #[test]
    fn samples_that_depend_on_each_other_are_less_precise() {
        // The same values, in states of twenty-five rounds and alternating.
        let states: Vec<f64> = (0..200)
            .map(|i| 2.0 + f64::from(i / 25 % 2) + 1e-3 * f64::from(i % 7))
            .collect();
        let alternating: Vec<f64> = (0..200)
            .map(|i| 2.0 + f64::from(i % 2) + 1e-3 * f64::from(i % 7))
            .collect();
        let [dependent, independent] = [&states, &alternating].map(|s| Budget::precision(s, true));
        assert!(independent.is_some());
        assert!(
            dependent.is_none_or(|d| d >= independent.unwrap()),
            "{dependent:?} {independent:?}"
        );
        // One outlier, which would double a mean's interval, moves nothing.
        let mut struck = vec![2.0; 60];
        struck[7] = 1e6;
        assert_eq!(Budget::precision(&struck, true), Some(0.0));
    }

    #[test]
    fn parts_make_the_whole() {
        let whole = Budget::of_mode(Mode::Normal, Guards::ThisThread);
        assert_eq!(whole.part(1), whole);
        let third = whole.part(3);
        assert_eq!((third.least, third.most), (100, 667));
        assert!(3 * third.time <= whole.time && (third.target / whole.target).powi(2) > 2.99);
        assert_eq!(Budget::runs(2).part(3).most, 2);
    }

    #[test]
    fn identical_samples_are_precise() {
        let budget = Budget::of_mode(Mode::Quick, Guards::ThisThread);
        assert!(budget.is_precise(&[2.0; 8], true));
        assert!(!budget.is_met(&[2.0; 8], true), "but too few");
        assert!(budget.is_met(&[2.0; 100], true));
    }

    #[test]
    fn many_quick_experiments_share_a_minute() {
        let alone = Budget::of_mode(Mode::Quick, Guards::ThisThread);
        let among = |left: &[Guards], spent| alone.among(Mode::Quick, left, Duration::from_secs(spent)).time;
        assert_eq!(among(&[Guards::ThisThread], 0), alone.time);
        let mut left = vec![Guards::ThisThread; 21];
        left.push(Guards::WholeMachine);
        assert_eq!(among(&left, 0), Duration::from_secs(2), "one of twenty-three parts");
        left.reverse();
        assert_eq!(among(&left, 0), Duration::from_secs(4), "two parts");
        // What the others did not use is its own; and one that is late has a little all the same.
        assert_eq!(among(&[Guards::ThisThread; 2], 36), Duration::from_secs(5));
        assert_eq!(among(&[Guards::ThisThread; 2], 300), QUICK_LEAST);
        let normal = Budget::of_mode(Mode::Normal, Guards::ThisThread);
        assert_eq!(normal.among(Mode::Normal, &left, Duration::ZERO), normal);
    }

    #[test]
    fn a_number_of_runs_is_met_by_count_alone() {
        assert!(!Budget::runs(3).is_met(&[1.0, 9.0], false));
        assert!(Budget::runs(3).is_met(&[1.0, 9.0, 5.0], false));
    }
}
