//! The error rate of each test where the truth is known, and broken twins that the same count catches.
//!
//! Every count is seeded, so it is the same on every run.

use super::super::ttest::{TTest, pooled};
use super::super::verdict::ALPHA;
use super::super::*;
use super::complete;
use crate::random::{SD, Source, column};

const TRIALS: usize = 4000;

/// The share of `trials` in which `claims` returns true.
pub(crate) fn rate(trials: usize, seed: u64, mut claims: impl FnMut(&mut Source) -> bool) -> f64 {
    let mut source = Source::new(seed);
    (0..trials).filter(|_| claims(&mut source)).count() as f64 / trials as f64
}

/// Checks the rate of a 5 % test under a true null. A `Result`, so that twins can be shown to fail it.
pub(super) fn honest(rate: f64) -> Result<(), String> {
    if (0.03..=0.07).contains(&rate) {
        Ok(())
    } else {
        Err(format!("a 5 % test rejected {} % of true nulls", 100.0 * rate))
    }
}

/// Normal p of a difference, with each side's variance computed by `variance(sum of squares, n)`.
fn z_test(a: &[f64], b: &[f64], variance: impl Fn(f64, f64) -> f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    let (a, b) = (describe(a).unwrap(), describe(b).unwrap());
    let of_mean = |s: &Summary| variance(s.sd * s.sd * (s.n as f64 - 1.0), s.n as f64) / s.n as f64;
    2.0 * Normal::standard().sf((a.mean - b.mean).abs() / (of_mean(&a) + of_mean(&b)).sqrt())
}

#[test]
fn welch_is_honest_on_gaussian_and_on_spiky_timings() {
    for n in [5, 30] {
        let gaussian = rate(TRIALS, 1, |s| {
            welch(&column(n, || s.gaussian(SD)), &column(n, || s.gaussian(SD)))
                .unwrap()
                .p
                < ALPHA
        });
        honest(gaussian).unwrap();
    }
    let spiky = rate(TRIALS, 2, |s| {
        welch(&column(100, || s.spiky(SD)), &column(100, || s.spiky(SD)))
            .unwrap()
            .p
            < ALPHA
    });
    honest(spiky).unwrap();
}

#[test]
fn twin_a_z_test_dividing_by_n_is_caught() {
    let broken = rate(TRIALS, 1, |s| {
        let (a, b) = (column(5, || s.gaussian(SD)), column(5, || s.gaussian(SD)));
        z_test(&a, &b, |squares, n| squares / n) < ALPHA
    });
    honest(broken).unwrap_err();
}

#[test]
fn twin_a_halved_spread_is_caught() {
    let broken = rate(TRIALS, 1, |s| {
        let (a, b) = (column(30, || s.gaussian(SD)), column(30, || s.gaussian(SD)));
        z_test(&a, &b, |squares, n| squares / (n - 1.0) / 4.0) < ALPHA
    });
    honest(broken).unwrap_err();
}

#[test]
fn unequal_spreads_and_counts_need_welch() {
    let p_of = |test: fn(&[f64], &[f64]) -> Option<TTest>| {
        rate(TRIALS, 3, |s| {
            test(&column(8, || s.gaussian(4.0 * SD)), &column(40, || s.gaussian(SD)))
                .unwrap()
                .p
                < ALPHA
        })
    };
    honest(p_of(welch)).unwrap();
    honest(p_of(pooled)).unwrap_err();
}

#[test]
fn the_rank_test_is_honest_exact_and_approximate() {
    let exact = rate(TRIALS, 4, |s| {
        mann_whitney(&column(12, || s.spiky(SD)), &column(12, || s.spiky(SD))).unwrap() < ALPHA
    });
    honest(exact).unwrap();
    // Whole numbers, as from a coarse clock: many ties.
    let tied = rate(TRIALS, 5, |s| {
        mann_whitney(&column(60, || s.spiky(SD).round()), &column(60, || s.spiky(SD).round())).unwrap() < ALPHA
    });
    honest(tied).unwrap();
}

#[test]
fn holm_keeps_the_whole_record_honest() {
    // Ten comparisons of one reference, as in a record; a claim is one false alarm among them.
    let family = |correct: bool| {
        rate(1000, 6, |s| {
            let reference = column(20, || s.gaussian(SD));
            let p: Vec<f64> = (0..10)
                .map(|_| welch(&reference, &column(20, || s.gaussian(SD))).unwrap().p)
                .collect();
            let p = if correct { holm(&p) } else { p };
            p.iter().any(|&p| p < ALPHA)
        })
    };
    assert!(family(true) <= 0.06, "{}", family(true));
    assert!(
        family(false) > 0.2,
        "the twin without Holm is caught: {}",
        family(false)
    );
}

#[test]
fn the_split_floor_has_the_width_of_a_full_control() {
    // The scaled difference of halves must spread as the difference of two full columns does.
    let mut source = Source::new(13);
    let mut s = || column(40, || source.gaussian(SD));
    let (mut halves, mut full) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        halves.push(split_floor(&s()).unwrap().difference);
        full.push(noise_floor(&s(), &s()).unwrap().difference);
    }
    let ratio = describe(&halves).unwrap().sd / describe(&full).unwrap().sd;
    assert!((ratio - 1.0).abs() < 0.07, "{ratio}");
}

#[test]
fn the_bootstrap_covers_the_true_ratio() {
    let missed = rate(300, 14, |s| {
        let pairs: Vec<(f64, f64)> = (0..40).map(|_| (s.gaussian(SD), s.gaussian(SD))).collect();
        let [lo, hi] = rounds_ratio_ci(&complete(&pairs), 1).unwrap();
        lo > 1.0 || hi < 1.0
    });
    assert!(missed <= 0.1, "{missed}");
    assert!(missed >= 0.01, "an interval that never misses is too wide: {missed}");
}
