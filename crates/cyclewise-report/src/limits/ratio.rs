//! The ratio of two rows of a record, paired by rounds where it can be.

use super::NoCost;
use super::primitives::Row;
use crate::record::rounds::pairs;
use crate::record::{Comparison, Experiment, Interval, Reason, Record, State, Variant, Verdict};
use crate::stats;

/// A row with its figure.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub record: &'a Record,
    pub experiment: &'a Experiment,
    pub variant: &'a Variant,
}

impl<'a> Measured<'a> {
    /// The row of a record; `None` if the record lacks it, or has no samples of it.
    pub fn of_row(record: &'a Record, row: Row) -> Option<Self> {
        let experiment = record.experiments.iter().find(|e| e.name == row.experiment)?;
        let variant = experiment.variants.iter().find(|v| v.name == row.variant && v.n > 0)?;
        Some(Self {
            record,
            experiment,
            variant,
        })
    }

    /// The figure if it is a cost and not above `most`.
    pub fn cost(&self, most: Option<f64>) -> Result<f64, NoCost> {
        let (value, _) = self.variant.value();
        if self.variant.is_not_linear() {
            return Err(NoCost::NotLinear);
        }
        let is_cost = value.is_finite() && value > 0.0 && most.is_none_or(|most| value <= most);
        if is_cost { Ok(value) } else { Err(NoCost::NotACost) }
    }

    /// Whether the figure is of several runs.
    pub(super) fn is_of_runs(&self) -> bool {
        self.variant.between.is_some()
    }
}

/// One row relative to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio; of rows compared in loops of each length, the one nearest to 1.
    pub value: f64,
    /// Its 95 % interval; unknown where the rows are of different rounds.
    pub ci95: Interval,
    /// Whether it is over rounds that measured both.
    pub paired: bool,
    /// What loops of each length say, where one of the rows is not linear.
    pub by_length: Option<ByLength>,
}

/// The ratios at each length, and what they say.
#[derive(Clone, Debug, PartialEq)]
pub struct ByLength {
    /// The least of the ratios.
    pub least: f64,
    pub most: f64,
    /// The verdict on the first row: what all lengths say, if what the two add among other instructions agrees.
    pub verdict: Verdict,
    /// Why it is undecided, or within which margin the two are the same.
    pub reason: Option<Reason>,
}

impl Ratio {
    /// `a` relative to `times` operations of `b`. `None` if either is no cost; of a row that is not linear see [`ByLength`].
    ///
    /// In order of preference: the record's comparison of the two; their common rounds, of the quiet state where enough are;
    /// the figures of the rows, which are not paired. Samples are of one run, so figures of several runs are only paired by the
    /// record's comparison between runs.
    pub fn between(a: Measured, b: Measured, times: u32) -> Option<Self> {
        let (x, y) = (a.cost(None).ok()?, b.cost(None).ok()?);
        let times = f64::from(times);
        let whole = |value: f64, ci95: Interval, paired| Self {
            value: value / times,
            ci95: ci95.map(|bound| bound.map(|bound| bound / times)),
            paired,
            by_length: None,
        };
        let same = a.experiment.name == b.experiment.name;
        let of_runs = a.is_of_runs() || b.is_of_runs();
        if same {
            if let Some((value, ci95)) = compared(a.experiment, a.variant, b.variant, of_runs) {
                return Some(whole(value, ci95, true));
            }
            if let Some((value, ci95)) = paired(a.variant, b.variant).filter(|_| !of_runs) {
                return Some(whole(value, ci95, true));
            }
        }
        Some(whole(x / y, [None, None], false))
    }
}

/// The record's own comparison, either way round; of an older record, whose ratio is of means, none. Of rows whose figures
/// are of several runs, only one between runs counts.
fn compared(e: &Experiment, a: &Variant, b: &Variant, of_runs: bool) -> Option<(f64, Interval)> {
    let is_paired = |c: &&Comparison| c.between.is_some() || (c.headline.is_some() && !of_runs);
    let of = |a: &str, b: &str| e.comparisons.iter().filter(is_paired).find(|c| c.a == a && c.b == b);
    if let Some(c) = of(&a.name, &b.name) {
        return Some(c.ratio_of());
    }
    let (value, [low, high]) = of(&b.name, &a.name)?.ratio_of();
    // An order statistic of the rounds' ratios is turned with them.
    let turned = |bound: f64| (bound > 0.0).then(|| 1.0 / bound);
    Some((turned(value)?, [high.and_then(turned), low.and_then(turned)]))
}

/// The median of the rounds' ratios.
fn paired(a: &Variant, b: &Variant) -> Option<(f64, Interval)> {
    let in_state = |state| stats::paired(state, &pairs((a, &a.samples), (b, &b.samples), state));
    let quiet = in_state(State::Quiet).filter(|p| p.effective_n >= stats::ENOUGH);
    let p = quiet.or_else(|| in_state(State::All))?;
    Some((p.ratio, p.ratio_ci95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::experiment_of;
    use crate::record::{BetweenRuns, Linearity, Paired};

    fn variant(name: &str, samples: &[f64], rejected: &[usize]) -> Variant {
        Variant {
            name: name.to_owned(),
            n: samples.len(),
            median: samples[samples.len() / 2],
            samples: samples.to_vec(),
            rejected_rounds: rejected.to_vec(),
            ..Variant::default()
        }
    }

    fn ratio(a: &Variant, b: &Variant, comparisons: Vec<Comparison>, times: u32) -> Option<Ratio> {
        let experiment = Experiment {
            name: "e".to_owned(),
            variants: vec![a.clone(), b.clone()],
            comparisons,
            ..Experiment::default()
        };
        let record = Record::default();
        let measured = |variant| Measured {
            record: &record,
            experiment: &experiment,
            variant,
        };
        Ratio::between(measured(a), measured(b), times)
    }

    /// A machine whose speed changes by round, so that only rows of the same round may be divided.
    fn drifting(factor: f64, rejected: &[usize]) -> Variant {
        let rounds = (0..40).filter(|r| !rejected.contains(r));
        let samples: Vec<f64> = rounds.map(|r| factor * (1.0 + f64::from(r as u32))).collect();
        variant("v", &samples, rejected)
    }

    #[test]
    fn rounds_are_paired_by_their_number_and_not_by_their_place() {
        let (a, b) = (drifting(3.0, &[0, 7, 8]), drifting(2.0, &[5]));
        let r = ratio(&a, &b, vec![], 1).unwrap();
        assert!((r.value - 1.5).abs() < 1e-12 && r.paired, "{r:?}");
        assert_eq!(r.ci95.map(|bound| (bound.unwrap() * 1e9).round()), [1.5e9; 2]);
        // The twin: without the rounds that were rejected the samples pair wrongly.
        let [mut a, mut b] = [a, b];
        a.rejected_rounds.clear();
        b.rejected_rounds.clear();
        assert!((ratio(&a, &b, vec![], 1).unwrap().value - 1.5).abs() > 0.01);
    }

    #[test]
    fn the_quiet_state_counts_where_it_is_known() {
        let mut a = variant("a", &[[2.0; 30], [9.0; 30]].concat(), &[]);
        let mut b = variant("b", &[[1.0; 30], [1.0; 30]].concat(), &[]);
        // Samples that vary, so that rounds are independent.
        a.samples
            .iter_mut()
            .enumerate()
            .for_each(|(i, s)| *s += 1e-3 * (i * 7 % 11) as f64);
        assert!(ratio(&a, &b, vec![], 1).unwrap().value > 2.1);
        a.sample_states = "q".repeat(30) + &"b".repeat(30);
        b.sample_states = a.sample_states.clone();
        let quiet = ratio(&a, &b, vec![], 1).unwrap().value;
        assert!((2.0..2.02).contains(&quiet), "{quiet}");
    }

    #[test]
    fn a_comparison_counts_before_samples_and_either_way_round() {
        let (a, b) = (variant("a", &[3.0; 9], &[]), variant("b", &[2.0; 9], &[]));
        let pair = |a: &str, b: &str| Comparison {
            a: a.to_owned(),
            b: b.to_owned(),
            headline: Some(Paired {
                ratio: 1.6,
                ratio_ci95: [Some(1.28), Some(2.0)],
                ..Paired::default()
            }),
            ..Comparison::default()
        };
        let r = ratio(&a, &b, vec![pair("a", "b")], 2).unwrap();
        assert_eq!((r.value, r.ci95), (0.8, [Some(0.64), Some(1.0)]));
        let r = ratio(&a, &b, vec![pair("b", "a")], 1).unwrap();
        assert_eq!((r.value, r.ci95), (0.625, [Some(0.5), Some(0.78125)]));
        // One of means, as older records have it, is not used: the samples are paired.
        let mut old = pair("a", "b");
        old.headline = None;
        assert_eq!(ratio(&a, &b, vec![old], 1).unwrap().value, 1.5);
    }

    #[test]
    fn figures_of_several_runs_are_not_paired_by_the_samples_of_one() {
        let between = |value| BetweenRuns {
            runs: 3,
            value,
            ci95: [Some(0.9 * value), Some(1.1 * value)],
        };
        let (mut a, b) = (variant("a", &[3.0; 9], &[]), variant("b", &[2.0; 9], &[]));
        // The twin: of one run, they are.
        assert!(ratio(&a, &b, vec![], 1).unwrap().paired);
        a.between = Some(between(4.0));
        let r = ratio(&a, &b, vec![], 1).unwrap();
        assert_eq!((r.value, r.ci95, r.paired), (2.0, [None, None], false));
        let mut pair = Comparison {
            a: "a".to_owned(),
            b: "b".to_owned(),
            headline: Some(Paired {
                ratio: 1.5,
                ..Paired::default()
            }),
            ..Comparison::default()
        };
        assert!(!ratio(&a, &b, vec![pair.clone()], 1).unwrap().paired);
        pair.between = Some(between(1.9));
        let r = ratio(&a, &b, vec![pair], 1).unwrap();
        assert!(r.value == 1.9 && r.paired);
    }

    #[test]
    fn a_slope_that_is_no_cost_has_no_ratio() {
        let (mut a, b) = (variant("a", &[3.0; 9], &[]), variant("b", &[2.0; 9], &[]));
        assert!(ratio(&a, &b, vec![], 1).is_some());
        a.linearity = Some(Linearity {
            linear: Some(false),
            ..Linearity::default()
        });
        assert_eq!(ratio(&a, &b, vec![], 1), None);
        assert_eq!(ratio(&b, &a, vec![], 1), None);
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let none = variant("z", &[none; 9], &[]);
            assert_eq!(ratio(&b, &none, vec![], 1), None);
            assert_eq!(ratio(&none, &b, vec![], 1), None);
        }
    }

    #[test]
    fn rows_of_different_experiments_are_not_paired() {
        let (a, b) = (variant("a", &[3.0; 9], &[]), variant("b", &[2.0; 9], &[]));
        let experiment = |name: &str, v: &Variant| experiment_of(name, vec![v.clone()]);
        let (x, y) = (experiment("x", &a), experiment("y", &b));
        let record = Record::default();
        let [one, other] = [&x, &y].map(|experiment| Measured {
            record: &record,
            experiment,
            variant: &experiment.variants[0],
        });
        let r = Ratio::between(one, other, 1).unwrap();
        assert_eq!(
            r,
            Ratio {
                value: 1.5,
                ci95: [None, None],
                paired: false,
                by_length: None,
            }
        );
    }
}
