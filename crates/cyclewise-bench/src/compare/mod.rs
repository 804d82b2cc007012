//! A variant in two records that were not measured in turns.
//!
//! Slopes of a row that is not linear in its copies are no costs, so such a row is compared in loops of each length, as slopes are
//! elsewhere. A verdict is what every length gives, which needs no correction for their number (see [`stats::decide_at_lengths`]).
//! The ratio of the row is the one nearest to 1, with an interval over those of all lengths.

mod decide;

pub use decide::{Outcome, Side, typical_spread};

use crate::record::{CompareAtLength, Figure, Interval, Reason, Variant, Verdict};
use crate::stats;
use decide::decide as decide_once;

/// Decides about `other`, compared with `base`: by slopes, or by lengths where a slope is no cost.
pub fn decide(base: Side<'_>, other: Side<'_>, typical: Option<f64>, floor: Option<f64>) -> Outcome {
    let bent = [base, other].into_iter().find(|side| side.variant.is_not_linear());
    let Some(bent) = bent else {
        return decide_once(base, other, typical, floor);
    };
    by_lengths(base, other, typical, floor).unwrap_or_else(|| {
        let why = bent.variant.linearity.as_ref().map_or("", |l| &l.why);
        Outcome {
            verdict: Verdict::None,
            reason: Some(Reason::not_linear(format_args!(" in its copies: {why}"))),
            ..decide_once(base, other, typical, floor)
        }
    })
}

/// `None` if the loops of the two have not the same lengths.
fn by_lengths(base: Side<'_>, other: Side<'_>, typical: Option<f64>, floor: Option<f64>) -> Option<Outcome> {
    let (ours, theirs) = (base.variant.at_lengths(), other.variant.at_lengths());
    let of_same_lengths = ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.copies == b.copies);
    let mut outcomes: Vec<(CompareAtLength, Outcome)> = Vec::new();
    for (length, at) in ours.iter().enumerate().filter(|_| of_same_lengths) {
        let (b, o) = (at_length(base.variant, length)?, at_length(other.variant, length)?);
        let side = |side, variant| Side {
            variant,
            length: Some(length),
            ..side
        };
        let outcome = decide_once(side(base, &b), side(other, &o), typical, floor);
        let figures = CompareAtLength {
            copies: at.copies,
            base: outcome.basis.base,
            other: outcome.basis.other,
            ratio: outcome.ratio,
            ratio_ci95: outcome.ratio_ci95,
            verdict: outcome.verdict,
        };
        outcomes.push((figures, outcome));
    }
    let lengths: Vec<CompareAtLength> = outcomes.iter().map(|(at, _)| *at).collect();
    let distance = |i: &usize| lengths[*i].ratio.ln().abs();
    let nearest = (0..lengths.len()).min_by(|x, y| distance(x).total_cmp(&distance(y)))?;
    let mut outcome = outcomes.swap_remove(nearest).1;
    let verdicts: Vec<(f64, Verdict)> = lengths.iter().map(|at| (at.copies, at.verdict)).collect();
    if verdicts.iter().any(|(_, verdict)| *verdict != outcome.verdict) || outcome.verdict == Verdict::Undecided {
        outcome.verdict = Verdict::Undecided;
        outcome.reason = Some(Reason::not_linear(format_args!(
            ": {}",
            stats::lengths_in_words(&verdicts)
        )));
    }
    outcome.ratio_ci95 = hull(&lengths);
    (outcome.lengths, outcome.length) = (lengths, Some(nearest));
    Some(outcome)
}

/// The row of a length: its samples are times of a copy.
fn at_length(v: &Variant, length: usize) -> Option<Variant> {
    let samples = v.per_copy(length);
    Some(Variant {
        name: v.name.clone(),
        n: samples.len(),
        median: stats::median(samples.iter().copied())?,
        headline: Some(Figure {
            state: v.figure().state,
            median: v.linearity.as_ref()?.per_copy[length],
            ..Figure::default()
        }),
        sample_states: v.sample_states.clone(),
        samples,
        ..Variant::default()
    })
}

/// From the least bound to the greatest; what is not known of one length is not known of all.
fn hull(lengths: &[CompareAtLength]) -> Interval {
    let of = |bound: usize, widest: fn(f64, f64) -> f64| {
        let bounds: Option<Vec<f64>> = lengths.iter().map(|at| at.ratio_ci95[bound]).collect();
        bounds?.into_iter().reduce(widest)
    };
    [of(0, f64::min), of(1, f64::max)]
}
