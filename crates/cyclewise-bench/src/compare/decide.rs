//! The verdict on one variant in two records.
//!
//! The interval of a run says how well that run is known. It does not say how far the next run will be from it: address
//! layout, pages, the hour and the neighbour are drawn once a run. So samples of two records are never tested against each
//! other; runs are.
//!
//! | runs | the ratio's interval | faster or slower |
//! |---|---|---|
//! | several on a side | Welch's t over the logarithms of the runs' medians ([`stats::ratio_between_runs`]) | p < [`ALPHA`], and the difference is above the noise floor and not negligible; with fewer than [`ENOUGH_RUNS`] the interval of single runs excludes 1 too |
//! | one on each side | the ratios that a part of one run has to a part of the other, and at least the spread of the experiment's median row or [`UNSEEN_SPREAD`] on either side of the ratio | the interval excludes 1, and the difference is above the noise floor |
//!
//! Parts of a run are ten blocks, by their medians. A run of fewer than 30 samples has no blocks: the interval of its median by order
//! statistics stands for them, of six or seven samples their range. Of fewer than six it is the range too, and only beside so many
//! that samples which do not overlap pass the exact rank test at [`ALPHA`]: five and five do. The median row counts because a row that
//! happens to be calm shares the machine with the others.
//!
//! The floor of such a run whose control is its own rounds in two halves is the range of a few pairs: one outlier makes it half of the
//! row. What halves show is chance, which the interval has already, so that floor has no say.
//!
//! The same: the interval of several runs lies within [`stats::SAME_MARGIN`], or the noise floor if that is larger, and at most
//! [`stats::LARGEST_MARGIN`]; a difference beyond the first that the interval proves is not "same".
//!
//! A row that is not linear in its copies in one of the records is compared by the same rules in loops of each length, and has
//! the verdict that all of them give (`lengths`).
//!
//! The medians are those of quiet rounds where every run of both records has enough of them, of all rounds elsewhere: the quiet
//! rounds of one run are never compared with all rounds of another.

use crate::record::{
    Basis, CompareAtLength, Control, Experiment, Interval, Reason, Record, Run, State, TimedCommand, Unit, Variant,
    Verdict, bounds,
};
use crate::stats::{self, difference, excludes_one, within};

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

/// A variant in one of the two records.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub record: &'a Record,
    pub experiment: &'a Experiment,
    pub variant: &'a Variant,
    /// From the record's unit to the comparison's.
    pub scale: f64,
    /// Which of the three loops the variant's samples are of, if not slopes.
    pub length: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the verdict rests on.
    pub basis: Basis,
    /// The other's median divided by the base's.
    pub ratio: f64,
    pub ratio_ci95: Interval,
    pub verdict: Verdict,
    /// Why there is none, or why it is undecided.
    pub reason: Option<Reason>,
    /// Each length, where the row is not linear.
    pub lengths: Vec<CompareAtLength>,
    pub length: Option<usize>,
}

/// Decides about `other`, compared with `base`. `typical` is the `spread` of the experiment's median row.
pub(super) fn decide(base: Side<'_>, other: Side<'_>, typical: Option<f64>, floor: Option<f64>) -> Outcome {
    let state = common_state(base, other);
    let (b, o) = (base.medians(state), other.medians(state));
    let mut outcome = match stats::ratio_between_runs(&o, &b) {
        Some(between) => {
            let few = b.len().min(o.len()) < ENOUGH_RUNS;
            let parts = if few {
                parts(base, other, state, typical.unwrap_or(0.0))
            } else {
                None
            };
            several(&b, &o, between, few, parts, floor)
        }
        None => one(base, other, state, typical, floor),
    };
    if let Some(why) = unlike_commands(base, other) {
        (outcome.verdict, outcome.reason) = (Verdict::None, Some(Reason::Other(why)));
    }
    outcome.basis.state = state;
    (outcome.basis.base_runs, outcome.basis.other_runs) = (b.len(), o.len());
    if outcome.verdict == Verdict::Slower && base.experiment.unit.more_is_faster() {
        outcome.verdict = Verdict::Faster;
    } else if outcome.verdict == Verdict::Faster && base.experiment.unit.more_is_faster() {
        outcome.verdict = Verdict::Slower;
    }
    outcome
}

/// Why a timed command of one record cannot be compared with that of the other.
fn unlike_commands(base: Side<'_>, other: Side<'_>) -> Option<String> {
    let by = |side: Side<'_>| side.experiment.timing.as_ref().map_or("wall", |t| &t.by).to_owned();
    if by(base) != by(other) {
        return Some(format!(
            "the first is of {} time, the other of {} time",
            by(base),
            by(other)
        ));
    }
    let (a, b) = (base.variant.timed.as_ref()?, other.variant.timed.as_ref()?);
    let said = |timed: &TimedCommand| {
        let none = || format!("none of {} failed", timed.runs);
        timed.failures_in_words().unwrap_or_else(none)
    };
    a.fails_unlike(b).then(|| {
        format!(
            "one fails more often: {} in the first, {} in the other",
            said(a),
            said(b)
        )
    })
}

/// The state whose samples are compared: quiet where every run of both sides says so.
fn common_state(base: Side<'_>, other: Side<'_>) -> State {
    if base.is_quiet() && other.is_quiet() {
        State::Quiet
    } else {
        State::All
    }
}

impl Side<'_> {
    fn runs(&self) -> Vec<&Run> {
        let (e, v) = (&self.experiment.name, &self.variant.name);
        let runs = self.record.runs.iter();
        runs.filter(|r| match self.length {
            None => r.median(e, v).is_some(),
            Some(_) => r.lengths(e, v).is_some(),
        })
        .collect()
    }

    /// Whether the headline of every run is of quiet rounds. A run of an older version does not say, and is taken to be as
    /// the record's samples are.
    fn is_quiet(self) -> bool {
        let (e, v) = (&self.experiment.name, &self.variant.name);
        self.variant.figure().state == State::Quiet
            && self
                .runs()
                .iter()
                .all(|r| r.state(e, v).is_none_or(|s| s == State::Quiet))
    }

    /// The median in `state` of each run.
    fn medians(self, state: State) -> Vec<f64> {
        let (e, v) = (&self.experiment.name, &self.variant.name);
        let runs = self.runs();
        if runs.len() < 2 {
            return vec![self.median(state)];
        }
        let of_run = |r: &&Run| match (state, self.length) {
            (State::Quiet, Some(length)) => r.lengths(e, v).map(|l| l.headline[length]),
            (_, Some(length)) => r.lengths(e, v).map(|l| l.all[length]),
            (State::Quiet, None) => r.median(e, v),
            (_, None) => r.median_of_all(e, v),
        };
        runs.iter().filter_map(of_run).map(|m| m * self.scale).collect()
    }

    /// Whether the floor of its record is the range of a few pairs of its own rounds.
    fn has_chance_floor(&self) -> bool {
        let splits = |control: &Control| control.samples.is_empty() && control.n < stats::BLOCKED;
        self.experiment.control.as_ref().is_some_and(splits)
    }

    /// The median of the record's samples in `state`.
    fn median(self, state: State) -> f64 {
        let median = match state {
            State::Quiet => self.variant.figure().median,
            _ => self.variant.median,
        };
        median * self.scale
    }
}

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
fn range(samples: &[f64]) -> Option<[f64; 2]> {
    stats::block_range(samples).or_else(|| match stats::Median::of_series(samples)?.interval(0.95) {
        [Some(low), Some(high)] => Some([low, high]),
        _ => stats::describe(samples).map(|s| [s.min, s.max]),
    })
}

/// What parts of two runs say about their ratio.
struct Parts {
    interval: [f64; 2],
    /// The larger range of the two runs, as a share of its lower end.
    own: f64,
}

/// The ratios that a part of `other`'s run has to a part of `base`'s, and at least `spread` on either side of the ratio of the
/// medians. `None` for figures that are not positive, and for too few samples.
fn parts(base: Side<'_>, other: Side<'_>, state: State, spread: f64) -> Option<Parts> {
    let [of_base, of_other] = [base, other].map(|side| samples(side.variant, state));
    let (n, m) = (of_base.len(), of_other.len());
    if n.min(m) < stats::FEWEST_IN_MEDIAN && stats::least_rank_p(n, m) >= ALPHA {
        return None;
    }
    let [b_low, b_high] = range(&of_base)?.map(|x| x * base.scale);
    let [o_low, o_high] = range(&of_other)?.map(|x| x * other.scale);
    let ratio = other.median(state) / base.median(state);
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
pub fn typical_spread(experiments: [&Experiment; 2]) -> Option<f64> {
    let rows = experiments.into_iter().flat_map(|e| &e.variants);
    let spread = |v: &Variant| {
        let [low, high] = range(&samples(v, v.figure().state))?;
        (low > 0.0).then(|| high / low - 1.0)
    };
    let spreads: Vec<f64> = rows.filter_map(spread).collect();
    stats::describe(&spreads).map(|s| s.median)
}

/// The verdict of several runs on at least one side; of times, so that more is slower.
///
/// `parts`: what must exclude 1 as well if there are `few` runs; `None`: nothing does, so that few runs prove nothing.
fn several(
    base: &[f64],
    other: &[f64],
    between: stats::RunRatio,
    few: bool,
    parts: Option<Parts>,
    floor: Option<f64>,
) -> Outcome {
    let range = |medians: &[f64]| stats::describe(medians).map_or(0.0, |s| s.max / s.min - 1.0);
    let spread = range(base).max(range(other));
    let floor = floor.unwrap_or(0.0);
    let margin = floor.clamp(stats::SAME_MARGIN, stats::LARGEST_MARGIN);
    let proven = excludes_one(bounds(between.ci95));
    let same = between.ci95.map(|bound| bound.is_some_and(|x| within(x, margin))) == [true; 2]
        && (!proven || within(between.ratio, stats::SAME_MARGIN));
    let of_parts = match &parts {
        Some(p) => format!(", and parts of a run by {:.1} %", 100.0 * p.own),
        None if few => format!(
            ", which are fewer than {ENOUGH_RUNS} on a side, and parts of a run have no positive figures to be compared"
        ),
        None => String::new(),
    };
    let seen = format!(
        "{} and {} runs, which differ by up to {:.1} %{of_parts}; p {}",
        base.len(),
        other.len(),
        100.0 * spread,
        p_value(between.p)
    );
    let apart = !few || parts.as_ref().is_some_and(|p| excludes_one(p.interval));
    let (verdict, reason) =
        if between.p < ALPHA && apart && difference(between.ratio) > floor && !stats::is_negligible(between.ci95) {
            (claim(between.ratio), None)
        } else if same {
            (Verdict::Same, None)
        } else {
            (
                Verdict::Undecided,
                Some(Reason::Other(format!("the runs do not tell: {seen}"))),
            )
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
        lengths: Vec::new(),
        length: None,
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
        lengths: Vec::new(),
        length: None,
    };
    let Some(parts) = parts(base, other, state, spread) else {
        let [n, m] = [base, other].map(|side| side.variant.n);
        outcome.basis.seen = match b > 0.0 && o > 0.0 {
            true if n.min(m) < stats::FEWEST_IN_MEDIAN => {
                format!("{n} and {m} samples cannot pass the rank test, whatever they are; take five of each at least")
            }
            true => "a part of a run has a figure that is not positive, so that ratios have no bounds".to_string(),
            false => "its figure is not positive".to_string(),
        };
        outcome.reason = Some(Reason::Other(outcome.basis.seen.clone()));
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
    let floor = floor
        .filter(|_| ![base, other].iter().any(Side::has_chance_floor))
        .unwrap_or(0.0);
    if excludes_one(parts.interval) && difference(outcome.ratio) > floor {
        outcome.verdict = claim(outcome.ratio);
    } else {
        outcome.verdict = Verdict::Undecided;
        let reason = Reason::Other(outcome.basis.seen.clone());
        outcome.reason = Some(match base.experiment.unit {
            Unit::Seconds => reason.and("commands that are timed in one record are told apart better"),
            _ => reason.and("`run --runs 5` measures that"),
        });
    }
    outcome
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
