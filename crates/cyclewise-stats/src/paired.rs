//! Two variants over paired rounds: the median of the rounds' differences and of their ratios.
//!
//! Variants are sampled in the same rounds, so what disturbs a round disturbs both, and the difference of a round is rid of
//! it. The ratio is the median of the rounds' ratios; its interval is the same as that of the logarithms, since an order
//! statistic moves with any monotone function. A round whose `b` is not above zero has no ratio, and counts as
//! unknown on both sides (see [`median`](mod@super::median)).
//!
//! # Few rounds
//! The sign test of n rounds cannot give less than 2^(1−n), which Holm's correction over a long record never passes for
//! a few runs of a long command. So below [`FEW`] effective rounds p is that of Student's paired t, on logarithms where
//! all ratios exist, with the effective number of rounds; the order-statistic interval has to exclude "no difference" in
//! either case. Many rounds that are worth few, because they depend on each other, may hold an outlier that the t-test takes for
//! noise; p is then twice the smaller of the two tests' (Bonferroni's correction for having asked two). Which test is used
//! depends on the number of rounds and of effective rounds alone.
//!
//! # The noise floor
//! The same figure for one variant measured twice: the far end of the 99 % interval of the ratio, as a share of the larger
//! of the two, so that it is below 1 as a difference's share is. With too few rounds for that interval (eight) it is the
//! median itself: an interval of so few would be wider than a factor of six, and chance is in the difference's own interval.
//!
//! # References
//! See [`median`](mod@super::median) and [`dependence`](super::dependence); A. Abedi, T. Brecht, "Conducting Repeatable
//! Experiments in Highly Variable Cloud Computing Environments", ICPE 2017: paired rounds in random order.

use super::median::Median;
use super::moments::Moments;
use super::{Interval, State, Verdict, student};
use serde::{Deserialize, Serialize};

/// Paired differences of two variants in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// The state.
    pub state: State,
    /// Rounds in which both samples were kept, in this state.
    pub n: usize,
    /// The number of independent rounds that would know as much.
    pub effective_n: f64,
    /// Correlation of a round's difference with the next.
    pub autocorrelation: Option<f64>,
    /// The median of a − b.
    pub difference: f64,
    /// 95 % interval of that median.
    pub ci95: Interval,
    /// The median of a / b.
    pub ratio: f64,
    /// 95 % interval of the ratio.
    pub ratio_ci95: Interval,
    /// Two-sided p of the sign test over `effective_n` rounds. If those are fewer than 20: of Student's paired t, or twice the
    /// smaller of the two where `n` is 20 or more.
    pub p: f64,
    /// The verdict that this state alone would give.
    pub verdict: Verdict,
}

/// Fewer effective rounds than these are judged by Student's t: twenty signs give p down to 2 · 10⁻⁶.
const FEW: f64 = 20.0;

/// The figures of `pairs` (a, b), in the order of the rounds; the verdict is not set.
///
/// `None` without pairs, or if the ratio does not exist: the reference costs nothing.
pub fn paired(state: State, pairs: &[(f64, f64)]) -> Option<Paired> {
    let difference = Median::of_series(&differences(pairs))?;
    let ratio = Median::of_series(&ratios(pairs))?;
    let p = if difference.dependence.effective_n < FEW {
        let student = student_p(pairs, difference.dependence.effective_n);
        let signs = difference.sign_p(0.0);
        match (pairs.len() as f64) < FEW {
            true => student,
            false => (2.0 * student.min(signs)).min(1.0),
        }
    } else {
        difference.sign_p(0.0)
    };
    Some(Paired {
        state,
        n: pairs.len(),
        effective_n: difference.dependence.effective_n,
        autocorrelation: difference.dependence.autocorrelation,
        difference: difference.median,
        ci95: difference.interval(0.95),
        ratio: ratio.median,
        ratio_ci95: ratio.interval(0.95),
        p,
        ..Paired::default()
    })
}

/// What measuring one variant twice can show, from pairs of the two measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedFloor {
    /// Pairs.
    pub n: usize,
    /// The median of first − second.
    pub difference: f64,
    /// Its 99 % interval.
    pub ci99: [f64; 2],
    /// The far end of the 99 % interval of the ratio, as a share of the larger of the two.
    pub share: f64,
    /// Whether there is that interval; the share of the median stands for it otherwise.
    pub bounded: bool,
}

/// The noise floor from pairs of one variant's two measurements. `None` for fewer than two pairs, and where no ratio exists.
pub fn paired_floor(pairs: &[(f64, f64)]) -> Option<PairedFloor> {
    let (differences, ratios) = (differences(pairs), ratios(pairs));
    let ratio = Median::of_series(&ratios)?;
    let share = |ratio: f64| 1.0 - ratio.min(1.0 / ratio).max(0.0);
    let far = match ratio.interval(0.99) {
        [Some(low), Some(high)] => Some(share(low).max(share(high))),
        _ => None,
    };
    Some(PairedFloor {
        n: pairs.len(),
        difference: Median::of_series(&differences)?.median,
        ci99: interval99(&differences)?,
        share: far.unwrap_or(share(ratio.median)),
        bounded: far.is_some(),
    })
}

/// The noise floor of a variant measured once: each odd round with the even one before it. Each pair of two columns would
/// have n pairs for these n/2, so differences and distances are divided by √2.
pub fn split_paired_floor(samples: &[f64]) -> Option<PairedFloor> {
    let pairs: Vec<(f64, f64)> = samples.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let halves = paired_floor(&pairs)?;
    let scaled = |x: f64| x * std::f64::consts::FRAC_1_SQRT_2;
    Some(PairedFloor {
        n: samples.len(),
        difference: scaled(halves.difference),
        ci99: halves.ci99.map(scaled),
        share: scaled(halves.share),
        bounded: halves.bounded,
    })
}

fn differences(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(a, b)| a - b).collect()
}

/// The ratio of each round; not a number where it does not exist.
fn ratios(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs
        .iter()
        .map(|&(a, b)| if b > 0.0 { a / b } else { f64::NAN })
        .collect()
}

/// The 99 % interval of the median, or of the mean where there are too few values for that.
fn interval99(series: &[f64]) -> Option<[f64; 2]> {
    let median = Median::of_series(series)?;
    if let [Some(low), Some(high)] = median.interval(0.99) {
        return Some([low, high]);
    }
    let moments = Moments::of_samples(series)?;
    let effective = median.dependence.effective_n;
    let reach = student::quantile(0.99, effective - 1.0) * (moments.variance / effective).sqrt();
    (effective >= 2.0 && reach.is_finite()).then(|| student::around(moments.mean, reach))
}

/// Two-sided p of Student's paired t, on logarithms of the ratios where all exist; 1 where it does not exist.
fn student_p(pairs: &[(f64, f64)], effective: f64) -> f64 {
    let positive = pairs.iter().all(|&(a, b)| a > 0.0 && b > 0.0);
    let series: Vec<f64> = if positive {
        pairs.iter().map(|(a, b)| (a / b).ln()).collect()
    } else {
        differences(pairs)
    };
    let Some(moments) = Moments::of_samples(&series).filter(|_| effective >= 2.0) else {
        return 1.0;
    };
    if moments.mean == 0.0 {
        return 1.0;
    }
    let t = moments.mean / (moments.variance / effective).sqrt();
    student::two_sided_p(t.clamp(-f64::MAX, f64::MAX), effective - 1.0)
}

/// Whether an interval excludes `value`; false if one of its bounds is not known.
pub(super) fn excludes(interval: Interval, value: f64) -> bool {
    matches!(interval, [Some(low), Some(high)] if low > value || high < value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{MEAN, SD, Source, column};
    use crate::tests::rates::rate;

    /// Rounds that share a state which lasts: both sides move by a tenth with it.
    fn rounds(n: usize, ratio: f64, s: &mut Source) -> Vec<(f64, f64)> {
        let mut state = 0.0;
        let shared = column(n, || {
            if s.even() < 0.05 {
                state = 0.1 * s.normal();
            }
            state
        });
        shared
            .into_iter()
            .map(|state| (ratio * (1.0 + state) * s.spiky(SD), (1.0 + state) * s.spiky(SD)))
            .collect()
    }

    #[test]
    fn a_difference_is_found_with_its_ratio() {
        let p = paired(State::Quiet, &rounds(500, 1.01, &mut Source::new(1))).unwrap();
        assert!(
            excludes(p.ci95, 0.0) && excludes(p.ratio_ci95, 1.0) && p.p < 1e-3,
            "{p:?}"
        );
        assert!(
            (p.ratio - 1.01).abs() < 0.004 && (p.difference - 0.01 * MEAN).abs() < 0.4,
            "{p:?}"
        );
        assert_eq!((p.n, p.state), (500, State::Quiet));
    }

    #[test]
    fn p_is_honest_for_many_rounds_and_for_few() {
        for (n, least) in [(200, 0.02), (12, 0.015), (7, 0.01)] {
            let small = rate(2000, 41, |s| paired(State::All, &rounds(n, 1.0, s)).unwrap().p < 0.05);
            assert!((least..0.07).contains(&small), "{n}: {small}");
        }
    }

    #[test]
    fn few_rounds_of_a_large_factor_pass_the_correction_of_a_long_record() {
        // `gzip` against `xz`: a factor of 6.7, ten runs each, wall times that vary by a quarter.
        let mut s = Source::new(2);
        let pairs: Vec<(f64, f64)> = (0..10)
            .map(|_| (6.7 * (0.2 * s.normal()).exp(), (0.2 * s.normal()).exp()))
            .collect();
        let p = paired(State::All, &pairs).unwrap();
        assert!(p.p < 1e-6, "{}", p.p);
        // The twin: signs alone cannot say more than 2⁻⁹.
        let signs = Median::of_series(&differences(&pairs)).unwrap().sign_p(0.0);
        assert!((signs - 2.0_f64.powi(-9)).abs() < 1e-12, "{signs}");
    }

    #[test]
    fn one_outlier_does_not_hide_what_the_signs_show() {
        // 500 rounds in eight stretches of two levels: worth some fifteen independent ones, and all show more.
        let level = |i: usize| if (i / 66).is_multiple_of(2) { 3.0 } else { 1.0 };
        let mut pairs: Vec<(f64, f64)> = (0..500).map(|i| (100.0 + level(i), 100.0)).collect();
        let calm = paired(State::All, &pairs).unwrap();
        assert!(calm.effective_n < FEW && calm.p < 0.001, "{calm:?}");
        pairs[250].1 = 1e6;
        let spiked = paired(State::All, &pairs).unwrap();
        assert!(excludes(spiked.ci95, 0.0) && spiked.p < 0.01, "{spiked:?}");
        // The twin: Student's t alone.
        assert!(student_p(&pairs, spiked.effective_n) > 0.05);
    }

    #[test]
    fn noise_does_not_turn_a_factor_of_six_into_nothing() {
        // Ten runs of each command on a loaded machine: wall times vary by half, and the control is the command itself.
        let lost = rate(300, 44, |s| {
            let pairs: Vec<(f64, f64)> = (0..10)
                .map(|_| (6.7 * (0.5 * s.normal()).exp(), (0.5 * s.normal()).exp()))
                .collect();
            let a: Vec<f64> = pairs.iter().map(|(a, _)| *a).collect();
            let floor = split_paired_floor(&a).map(|f| f.share);
            let p = paired(State::All, &pairs).unwrap();
            crate::decide(&p, p.p, 6.7, floor, false).verdict != crate::Verdict::Slower
        });
        assert!(lost <= 0.02, "{lost}");
        // A floor that is a share of the smaller of the two would be above any difference's.
        let apart = paired_floor(&[(1.0, 9.0), (9.0, 1.0), (9.0, 1.0)]).unwrap();
        assert!((apart.share - 8.0 / 9.0).abs() < 1e-12, "{}", apart.share);
    }

    #[test]
    fn a_reference_that_costs_nothing_has_no_ratio() {
        assert_eq!(paired(State::All, &[(1.0, 0.0); 10]), None);
        assert_eq!(paired(State::All, &[]), None);
        let some: Vec<(f64, f64)> = (0..40).map(|i| (1.0, if i % 4 == 0 { -0.1 } else { 0.5 })).collect();
        let p = paired(State::All, &some).unwrap();
        assert_eq!((p.ratio, p.ci95), (2.0, [Some(0.5), Some(0.5)]));
    }

    #[test]
    fn the_floor_bounds_the_same_thing_measured_twice() {
        let within = |n: usize| {
            rate(500, 43, |s| {
                let floor = paired_floor(&rounds(n, 1.0, s)).unwrap().share;
                (paired(State::All, &rounds(n, 1.0, s)).unwrap().ratio - 1.0).abs() > floor
            })
        };
        for n in [30, 300] {
            assert!(within(n) < 0.05, "{n}: {}", within(n));
        }
        // The floor of halves is as wide as that of two columns.
        let mut s = Source::new(3);
        type Statistic<'a> = &'a dyn Fn(&[(f64, f64)]) -> f64;
        let mut mean = |of: Statistic<'_>| (0..200).map(|_| of(&rounds(200, 1.0, &mut s))).sum::<f64>();
        let full = mean(&|pairs| paired_floor(pairs).unwrap().share);
        let halves = mean(&|pairs| {
            let one: Vec<f64> = pairs.iter().map(|(a, _)| *a).collect();
            split_paired_floor(&one).unwrap().share
        });
        // Neighbouring rounds share less than one round does.
        assert!((0.9..1.6).contains(&(halves / full)), "{}", halves / full);
        assert_eq!(paired_floor(&[(1.0, 1.0)]), None);
    }
}
