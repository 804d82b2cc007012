//! The verdict on one variant in two records.
//!
//! The interval of a run says how well that run is known. It does not say how far the next run will be from it: address
//! layout, pages, the hour and the neighbour are drawn once a run. So samples of two records are never tested against each
//! other; runs are.
//!
//! | runs | the ratio's interval | faster or slower |
//! |---|---|---|
//! | several on a side | Welch's t over the logarithms of the runs' medians ([`stats::ratio_between_runs`]) | p < [`ALPHA`], and the difference is above the noise floor; with fewer than [`ENOUGH_RUNS`] the interval of single runs excludes 1 too |
//! | one on each side | the ratios that a part of one run has to a part of the other, and at least the spread of the experiment's median row or [`UNSEEN_SPREAD`] on either side of the ratio | the interval excludes 1, and the difference is above the noise floor |
//!
//! Parts of a run are ten blocks, by their medians; of a run with few samples, its samples. The median row counts because a row
//! that happens to be calm shares the machine with the others.
//!
//! The same: the interval of several runs lies within [`stats::SAME_MARGIN`], or the noise floor if that is larger.
//!
//! The medians are those of quiet rounds where both records tell the states of the neighbour apart, of all rounds elsewhere.

use crate::record::{Basis, Experiment, Interval, Record, State, Variant, Verdict};
use crate::stats;

/// The accepted chance of a false claim between runs. One in a hundred rows, since a comparison has hundreds.
const ALPHA: f64 = 0.01;

/// What runs may differ by although nothing within them shows it: 5 %.
///
/// A run draws its address layout once. Mytkowicz and others ("Producing Wrong Data Without Doing Anything Obviously Wrong!",
/// ASPLOS 2009) changed only the size of the environment or the order of linking, and programs' times moved by several per
/// cent. Records of several runs measure it and do not need this guess.
const UNSEEN_SPREAD: f64 = 0.05;

/// Runs on a side from which on they show alone how runs differ.
///
/// Where the neighbour has two states, a few runs of one record may by chance all have met the one, and those of the other
/// record the other: three and three runs in 1 of 32 cases, five and five in 1 of 512. Of fewer, parts of
/// the runs must differ too.
const ENOUGH_RUNS: usize = 5;

/// The fewest samples whose range is evidence of a spread, where there are too few for blocks.
const FEWEST: usize = 6;

/// A variant in one of the two records.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) record: &'a Record,
    pub(super) experiment: &'a Experiment,
    pub(super) variant: &'a Variant,
    /// From the record's unit to the comparison's.
    pub(super) scale: f64,
}

/// The outcome for one variant.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) basis: Basis,
    pub(super) ratio: f64,
    pub(super) ratio_ci95: Interval,
    pub(super) verdict: Verdict,
    pub(super) reason: Option<String>,
}

/// Decides about `other`, compared with `base`. `typical` is the [`spread`] of the experiment's median row.
pub(super) fn decide(base: Side<'_>, other: Side<'_>, typical: Option<f64>, floor: Option<f64>) -> Outcome {
    let state = common_state(base.variant, other.variant);
    let (b, o) = (base.medians(state), other.medians(state));
    let mut outcome = match stats::ratio_between_runs(&o, &b) {
        Some(between) => {
            let few = b.len().min(o.len()) < ENOUGH_RUNS;
            let parts = if few {
                parts(base, other, state, typical.unwrap_or(0.0))
            } else {
                None
            };
            several(&b, &o, between, parts, floor)
        }
        None => one(base, other, state, typical, floor),
    };
    outcome.basis.state = state;
    (outcome.basis.base_runs, outcome.basis.other_runs) = (b.len(), o.len());
    if let Some(why) = not_linear(base, other) {
        outcome.verdict = Verdict::None;
        outcome.reason = Some(why);
    } else if outcome.verdict == Verdict::Slower && base.experiment.unit.more_is_faster() {
        outcome.verdict = Verdict::Faster;
    } else if outcome.verdict == Verdict::Faster && base.experiment.unit.more_is_faster() {
        outcome.verdict = Verdict::Slower;
    }
    outcome
}

/// The state whose samples are compared.
fn common_state(base: &Variant, other: &Variant) -> State {
    let is_quiet = |v: &Variant| v.headline.as_ref().is_some_and(|h| h.state == State::Quiet);
    if is_quiet(base) && is_quiet(other) {
        State::Quiet
    } else {
        State::All
    }
}

impl Side<'_> {
    /// The median of each run: the headline's of several runs, that of `state` of one.
    fn medians(self, state: State) -> Vec<f64> {
        let (e, v) = (&self.experiment.name, &self.variant.name);
        let of_runs: Vec<f64> = self.record.runs.iter().filter_map(|r| r.median(e, v)).collect();
        let medians = match of_runs.len() {
            0 | 1 => vec![match state {
                State::Quiet => self.variant.figure().median,
                _ => self.variant.median,
            }],
            _ => of_runs,
        };
        medians.into_iter().map(|m| m * self.scale).collect()
    }
}

/// The samples of `state`.
fn samples(v: &Variant, state: State) -> Vec<f64> {
    if state != State::Quiet || v.sample_states.len() != v.samples.len() {
        return v.samples.clone();
    }
    let quiet = v.samples.iter().zip(v.sample_states.chars());
    quiet
        .filter(|(_, letter)| *letter == state.letter())
        .map(|(sample, _)| *sample)
        .collect()
}

/// The least and the largest figure of parts of a run.
fn range(v: &Variant, state: State) -> Option<[f64; 2]> {
    let samples = samples(v, state);
    if let Some(range) = stats::block_range(&samples) {
        return Some(range);
    }
    let s = stats::describe(&samples).filter(|s| s.n >= FEWEST)?;
    Some([s.min, s.max])
}

/// What parts of two runs say about their ratio.
struct Parts {
    /// The interval of the ratio.
    interval: [f64; 2],
    /// The larger range of the two runs, as a share of its lower end.
    own: f64,
}

/// The ratios that a part of `other`'s run has to a part of `base`'s, and at least `spread` on either side of the ratio of the
/// medians. `None` for figures that are not positive, and for too few samples.
fn parts(base: Side<'_>, other: Side<'_>, state: State, spread: f64) -> Option<Parts> {
    let scaled = |side: Side<'_>| Some(range(side.variant, state)?.map(|x| x * side.scale));
    let ([b_low, b_high], [o_low, o_high]) = (scaled(base)?, scaled(other)?);
    let ratio = other.medians(state).first()? / base.medians(state).first()?;
    if !(b_low > 0.0 && o_low > 0.0 && ratio > 0.0) {
        return None;
    }
    Some(Parts {
        interval: [
            (o_low / b_high).min(ratio / (1.0 + spread)),
            (o_high / b_low).max(ratio * (1.0 + spread)),
        ],
        own: (b_high / b_low).max(o_high / o_low) - 1.0,
    })
}

/// The spread of the median row of two experiments; `None` if no row has one.
pub(super) fn typical_spread(experiments: [&Experiment; 2]) -> Option<f64> {
    let rows = experiments.into_iter().flat_map(|e| &e.variants);
    let spread = |v: &Variant| {
        let [low, high] = range(v, v.figure().state)?;
        (low > 0.0).then(|| high / low - 1.0)
    };
    let spreads: Vec<f64> = rows.filter_map(spread).collect();
    stats::describe(&spreads).map(|s| s.median)
}

/// The verdict of several runs on at least one side; of times, so that more is slower.
///
/// `parts`: what must exclude 1 as well, because there are few runs.
fn several(base: &[f64], other: &[f64], between: stats::RunRatio, parts: Option<Parts>, floor: Option<f64>) -> Outcome {
    let range = |medians: &[f64]| stats::describe(medians).map_or(0.0, |s| s.max / s.min - 1.0);
    let spread = range(base).max(range(other));
    let floor = floor.unwrap_or(0.0);
    let margin = floor.max(stats::SAME_MARGIN);
    let same = between
        .ci95
        .map(|bound| bound.is_some_and(|x| (x - 1.0).abs() < margin))
        == [true; 2];
    let within = parts.as_ref().map_or(String::new(), |p| {
        format!(", and parts of a run by {:.1} %", 100.0 * p.own)
    });
    let seen = format!(
        "{} and {} runs, which differ by up to {:.1} %{within}; p {}",
        base.len(),
        other.len(),
        100.0 * spread,
        p_value(between.p)
    );
    let apart = parts.is_none_or(|p| excludes_one(p.interval));
    let (verdict, reason) = if between.p < ALPHA && apart && difference(between.ratio) > floor {
        (claim(between.ratio), None)
    } else if same {
        (Verdict::Same, None)
    } else {
        (Verdict::Undecided, Some(format!("the runs do not tell: {seen}")))
    };
    Outcome {
        basis: Basis {
            base: geometric_mean(base),
            other: geometric_mean(other),
            spread,
            p: Some(between.p),
            seen,
            ..Basis::default()
        },
        ratio: between.ratio,
        ratio_ci95: between.ci95,
        verdict,
        reason,
    }
}

/// The verdict of one run on each side; of times.
fn one(base: Side<'_>, other: Side<'_>, state: State, typical: Option<f64>, floor: Option<f64>) -> Outcome {
    let [b, o] = [base, other].map(|side| side.medians(state)[0]);
    let typical = typical.unwrap_or(0.0);
    let spread = typical.max(UNSEEN_SPREAD);
    let mut outcome = Outcome {
        basis: Basis {
            base: b,
            other: o,
            ..Basis::default()
        },
        ratio: o / b,
        ratio_ci95: [None; 2],
        verdict: Verdict::None,
        reason: None,
    };
    let Some(parts) = parts(base, other, state, spread) else {
        outcome.basis.seen = match b > 0.0 && o > 0.0 && [base, other].map(|side| side.variant.n >= FEWEST) == [true; 2]
        {
            true => "a part of a run has a figure that is not positive, so that ratios have no bounds".to_string(),
            false => format!("its figure is not positive, or rests on fewer than {FEWEST} samples"),
        };
        outcome.reason = Some(outcome.basis.seen.clone());
        return outcome;
    };
    outcome.basis.spread = spread.max(parts.own);
    outcome.basis.seen = format!(
        "one run on each side; parts of a run differ by {:.1} %, those of the median row by {:.1} %, and runs may differ by {:.0} %",
        100.0 * parts.own,
        100.0 * typical,
        100.0 * UNSEEN_SPREAD
    );
    outcome.ratio_ci95 = parts.interval.map(Some);
    if excludes_one(parts.interval) && difference(outcome.ratio) > floor.unwrap_or(0.0) {
        outcome.verdict = claim(outcome.ratio);
    } else {
        outcome.verdict = Verdict::Undecided;
        outcome.reason = Some(format!("{}; `run --runs 5` measures that", outcome.basis.seen));
    }
    outcome
}

fn excludes_one([low, high]: [f64; 2]) -> bool {
    low > 1.0 || high < 1.0
}

/// How far a ratio is from 1, in either direction alike.
fn difference(ratio: f64) -> f64 {
    ratio.max(1.0 / ratio) - 1.0
}

fn p_value(p: f64) -> String {
    if p < 1e-4 {
        "< 0.0001".to_string()
    } else {
        format!("= {p:.4}")
    }
}

fn claim(ratio: f64) -> Verdict {
    if ratio > 1.0 { Verdict::Slower } else { Verdict::Faster }
}

fn geometric_mean(medians: &[f64]) -> f64 {
    stats::between_runs(medians).map_or(f64::NAN, |b| b.value)
}

/// Why a row that is no slope has no verdict.
fn not_linear(base: Side<'_>, other: Side<'_>) -> Option<String> {
    let bent = [base, other]
        .into_iter()
        .filter_map(|side| side.variant.linearity.as_ref())
        .find(|l| l.linear == Some(false))?;
    Some(format!("not linear in its copies: {}", bent.why))
}
