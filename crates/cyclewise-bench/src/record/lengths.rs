//! What a row costs in loops of each length: the figures of a row that is not linear in its copies, whose slope is no cost.
//!
//! Two such rows are compared at the same lengths, by paired rounds at each. The time of a copy has its share of the loop and
//! of the stamps, which is the same for both rows of a pair: it makes a ratio come nearer to 1, and changes no sign.

use super::rounds::pairs;
use super::{Comparison, Interval, PairAtLength, Paired, State, Variant, Verdict};
use crate::stats;
use serde::{Deserialize, Serialize};

/// The time of a copy in the loop of a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtLength {
    /// Copies in an iteration; of loops without copies, their iterations.
    pub copies: f64,
    /// Time of a copy, loop and stamps included, in the experiment's unit.
    pub cost: f64,
    /// 95 % interval of it: over several runs where there were several, else of the samples.
    pub ci95: Interval,
}

/// A run's medians of a row at each length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLengths {
    pub experiment: String,
    pub variant: String,
    /// Copies in an iteration of each loop.
    pub copies: [f64; 3],
    /// The time of a copy in the headline's state.
    pub headline: [f64; 3],
    pub all: [f64; 3],
}

/// The three loops.
const LENGTHS: std::ops::Range<usize> = 0..3;

impl Variant {
    /// The time of a copy in the loop of each length; empty for a row without loops of three lengths.
    pub fn at_lengths(&self) -> Vec<AtLength> {
        let (Some(l), Some(lengths)) = (&self.linearity, self.lengths()) else {
            return Vec::new();
        };
        let at = |length: usize| match l.between.get(length) {
            Some(between) => (between.value, between.ci95),
            None => {
                let samples = self.samples_at(length, self.figure().state);
                let interval = stats::Median::of_series(&samples).map(|m| m.interval(0.95));
                (l.per_copy[length], interval.unwrap_or_default())
            }
        };
        LENGTHS
            .map(|length| {
                let (cost, ci95) = at(length);
                AtLength {
                    copies: lengths[length],
                    cost,
                    ci95,
                }
            })
            .collect()
    }

    /// Copies in an iteration of each loop; of loops without copies, their iterations.
    pub(crate) fn lengths(&self) -> Option<[f64; 3]> {
        let l = self.linearity.as_ref()?;
        let iterations = self
            .batches
            .as_ref()
            .filter(|b| b.copies == [0; 3])
            .map_or(1, |b| b.iterations);
        Some(l.copies.map(|copies| copies * iterations as f64))
    }

    /// The lengths of loops whose times are known in each round.
    fn lengths_by_round(&self) -> Option<[f64; 3]> {
        self.lengths().filter(|_| self.batches.is_some())
    }

    /// The least and the greatest cost of a copy, of a row that is not linear; `None` for any other.
    pub fn cost_range(&self) -> Option<[AtLength; 2]> {
        let at = self.at_lengths();
        let least = at.iter().min_by(|x, y| x.cost.total_cmp(&y.cost));
        let most = at.iter().max_by(|x, y| x.cost.total_cmp(&y.cost));
        let is_range = self.is_not_linear() && at.iter().all(|x| x.cost.is_finite() && x.cost > 0.0);
        Some([*least?, *most?]).filter(|_| is_range)
    }

    /// The time of a copy at a length, of each kept sample; empty if it is not known.
    pub fn per_copy(&self, length: usize) -> Vec<f64> {
        let known = self.linearity.as_ref().zip(self.batches.as_ref());
        let at = known.and_then(|(l, b)| Some((b.ticks.get(length)?, b.iterations as f64 * l.copies.get(length)?)));
        at.map_or(Vec::new(), |(ticks, copies)| {
            ticks.iter().map(|t| *t as f64 / copies).collect()
        })
    }

    /// The same, of the samples in a state.
    pub fn samples_at(&self, length: usize, state: State) -> Vec<f64> {
        self.samples_in(state, &self.per_copy(length))
    }

    /// The medians at each length, for the variance between runs; `None` for a row without loops of three lengths.
    pub(super) fn run_lengths(&self, experiment: &str) -> Option<RunLengths> {
        let l = self.linearity.as_ref()?;
        let mut all = [0.0; 3];
        for length in LENGTHS {
            all[length] = stats::median(self.per_copy(length).into_iter())?;
        }
        Some(RunLengths {
            experiment: experiment.to_string(),
            variant: self.name.clone(),
            copies: self.lengths()?,
            headline: l.per_copy,
            all,
        })
    }

    /// Whether the row is not linear in a state. Without a figure of that state it is as linear as the least of those that it has.
    pub fn is_bent_in(&self, state: State) -> bool {
        let mut figures = self.headline.iter().chain(&self.states);
        let is_bent = |f: &super::Figure| f.linear == Some(false);
        match figures.clone().find(|f| f.state == state) {
            Some(figure) => is_bent(figure),
            None => figures.any(is_bent),
        }
    }
}

/// The lengths of two rows' loops, if they have the same.
fn common_lengths(a: &Variant, b: &Variant) -> Option<[f64; 3]> {
    let lengths = a.lengths_by_round()?;
    (b.lengths_by_round()? == lengths).then_some(lengths)
}

/// Two rows at each length in these states; `b` is `times` operations of its row. Empty if their loops have not the same lengths.
pub fn pairs_at_lengths(a: &Variant, b: &Variant, states: &[State], times: f64) -> Vec<PairAtLength> {
    let Some(copies) = common_lengths(a, b).filter(|_| !states.is_empty()) else {
        return Vec::new();
    };
    let at = |length: usize| {
        let (of_a, of_b) = (a.per_copy(length), b.per_copy(length));
        let of_b: Vec<f64> = of_b.iter().map(|x| x * times).collect();
        let figure = |state: &State| stats::paired(*state, &pairs((a, &of_a), (b, &of_b), *state));
        Some(PairAtLength {
            copies: copies[length],
            figures: states.iter().map(figure).collect::<Option<_>>()?,
            between: None,
        })
    };
    LENGTHS.map(at).collect::<Option<_>>().unwrap_or_default()
}

/// The median ratio of two rows at each length, in the rounds of a state; `None` if their loops have not the same lengths.
pub(crate) fn ratios_at_lengths(a: &Variant, b: &Variant, state: State) -> Option<[f64; 3]> {
    common_lengths(a, b)?;
    let mut ratios = [0.0; 3];
    for length in LENGTHS {
        let both = pairs((a, &a.per_copy(length)), (b, &b.per_copy(length)), state);
        ratios[length] = stats::median(both.into_iter().map(|(a, b)| a / b)).filter(|r| r.is_finite())?;
    }
    Some(ratios)
}

impl Comparison {
    /// The copies and figures at each length in a state; empty where slopes are compared.
    pub fn at_lengths(&self, state: State) -> Vec<(f64, &Paired)> {
        let of = |at: &'_ PairAtLength| at.figures.iter().position(|f| f.state == state);
        let both = self.lengths.iter().map(|at| Some((at.copies, &at.figures[of(at)?])));
        both.collect::<Option<_>>().unwrap_or_default()
    }

    /// The copies, ratio and its 95 % interval at each length, of the headline; empty where slopes are compared.
    pub fn ratios_at_lengths(&self) -> Vec<(f64, f64, Interval)> {
        let figures = self.at_lengths(self.paired().state).into_iter();
        figures
            .zip(&self.lengths)
            .map(|((copies, paired), at)| match &at.between {
                Some(between) => (copies, between.value, between.ci95),
                None => (copies, paired.ratio, paired.ratio_ci95),
            })
            .collect()
    }
}

/// A variant's time of a copy in two records, in the loop of one length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompareAtLength {
    pub copies: f64,
    /// The base's median.
    pub base: f64,
    pub other: f64,
    /// The other's divided by the base's.
    pub ratio: f64,
    /// 95 % interval of the ratio, as of a row of the comparison.
    pub ratio_ci95: Interval,
    /// What this length alone would say.
    pub verdict: Verdict,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::bent;
    use crate::record::{BetweenRuns, Figure};

    fn row(per_copy: [f64; 3], states: &str) -> Variant {
        bent("a", per_copy, states)
    }

    #[test]
    fn a_row_that_is_not_linear_has_a_range_with_intervals() {
        let v = row([1.76, 9.69, 6.8], "");
        let [least, most] = v.cost_range().unwrap();
        assert_eq!(
            (least.copies, least.cost, most.copies, most.cost),
            (4.0, 1.76, 8.0, 9.69)
        );
        let [low, high] = most.ci95.map(Option::unwrap);
        assert!((9.69..9.70).contains(&low) && low < high && high < 9.70, "{most:?}");
        // The twins: a linear row has none, nor one whose loops took no time; an old record has no interval.
        let mut linear = v.clone();
        linear.linearity.as_mut().unwrap().linear = Some(true);
        assert_eq!((linear.cost_range(), linear.at_lengths().len()), (None, 3));
        assert_eq!(row([0.0, 1.0, 1.0], "").cost_range(), None);
        let old = Variant { batches: None, ..v };
        assert_eq!(old.cost_range().unwrap()[0].ci95, [None; 2]);
    }

    #[test]
    fn rows_are_paired_at_the_same_lengths_in_each_state() {
        let (a, b) = (row([1.0, 8.0, 4.0], "qb"), row([2.0, 4.0, 4.0], "qb"));
        let at = pairs_at_lengths(&a, &b, &[State::Quiet, State::Busy], 1.0);
        let of = |state: State| -> Vec<(f64, usize)> {
            let figure = |at: &'_ PairAtLength| at.figures.iter().position(|f| f.state == state).unwrap();
            at.iter()
                .map(|at| (at.figures[figure(at)].ratio, at.figures[figure(at)].n))
                .collect()
        };
        let quiet = of(State::Quiet);
        for ((ratio, n), expected) in quiet.iter().zip([0.5, 2.0, 1.0]) {
            assert!((ratio - expected).abs() < 0.01 && *n == 20, "{quiet:?}");
        }
        let twice = pairs_at_lengths(&a, &b, &[State::Quiet], 2.0);
        assert!((twice[1].figures[0].ratio - 1.0).abs() < 0.01, "{twice:?}");
        // The twin: loops of other lengths are not compared.
        let mut other = b.clone();
        other.linearity.as_mut().unwrap().copies = [8.0, 16.0, 32.0];
        assert_eq!(pairs_at_lengths(&a, &other, &[State::Quiet], 1.0), []);
        assert_eq!(ratios_at_lengths(&a, &other, State::Quiet), None);
        assert!((ratios_at_lengths(&a, &b, State::All).unwrap()[1] - 2.0).abs() < 0.01);
    }

    #[test]
    fn loops_without_copies_are_as_long_as_their_iterations() {
        let calls = |iterations: u64| {
            let mut v = row([1.0, 8.0, 4.0], "");
            v.linearity.as_mut().unwrap().copies = [1.0, 2.0, 4.0];
            let batches = v.batches.as_mut().unwrap();
            (batches.copies, batches.iterations) = ([0; 3], iterations);
            v
        };
        let a = calls(10_000);
        assert_eq!(a.at_lengths()[2].copies, 40_000.0);
        assert_eq!(pairs_at_lengths(&a, &calls(10_000), &[State::All], 1.0).len(), 3);
        // The twin: twice the calls are other lengths.
        assert_eq!(pairs_at_lengths(&a, &calls(20_000), &[State::All], 1.0), []);
    }

    #[test]
    fn figures_between_runs_go_before_those_of_one() {
        let mut v = row([1.76, 9.69, 6.8], "");
        let between = |value: f64| BetweenRuns {
            runs: 3,
            value,
            ci95: [Some(value - 0.5), Some(value + 0.5)],
        };
        v.linearity.as_mut().unwrap().between = [2.0, 8.0, 6.0].map(between).to_vec();
        let [least, most] = v.cost_range().unwrap();
        assert_eq!((least.cost, most.cost, most.ci95), (2.0, 8.0, [Some(7.5), Some(8.5)]));
    }

    #[test]
    fn a_state_without_a_figure_is_as_linear_as_the_others() {
        let v = row([1.76, 9.69, 6.8], "qb");
        assert!(v.is_bent_in(State::Quiet) && v.is_bent_in(State::All));
        let mut both = v.clone();
        both.states = vec![Figure {
            state: State::All,
            linear: Some(true),
            ..Figure::default()
        }];
        assert!(!both.is_bent_in(State::All) && both.is_bent_in(State::Quiet));
    }
}
