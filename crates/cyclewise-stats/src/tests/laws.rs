//! Properties that hold for any samples.

use super::super::ttest::pooled;
use super::super::*;
use super::complete;
use proptest::prelude::*;

/// Samples with few bits, so that shifting and scaling them is exact.
fn samples() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-8000..8000).prop_map(|x| f64::from(x) / 8.0), 2..25)
}

/// Timings: positive, within a factor of three.
fn timings() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop::collection::vec((50.0..150.0, 50.0..150.0), 2..25)
}

/// Anything a double can hold but NaN and the infinities.
fn wild() -> impl Strategy<Value = Vec<f64>> {
    use prop::num::f64::{NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    prop::collection::vec(NORMAL | SUBNORMAL | ZERO | POSITIVE | NEGATIVE, 0..12)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn map(v: &[f64], f: impl Fn(f64) -> f64) -> Vec<f64> {
    v.iter().map(|&x| f(x)).collect()
}

proptest! {
    #[test]
    fn exchanging_the_sides_turns_the_sign(a in samples(), b in samples()) {
        for test in [welch, pooled] {
            let (ab, ba) = (test(&a, &b).unwrap(), test(&b, &a).unwrap());
            prop_assert_eq!((ab.difference, ab.t, ab.p), (-ba.difference, -ba.t, ba.p));
            prop_assert!(near(ab.df, ba.df));
            prop_assert!(near(ab.ci95[0], -ba.ci95[1]));
        }
        prop_assert_eq!(mann_whitney(&a, &b), mann_whitney(&b, &a));
    }

    #[test]
    fn a_common_shift_changes_no_test(a in samples(), b in samples(), by in -100_000..100_000) {
        let shifted = |v: &[f64]| map(v, |x| x + f64::from(by));
        let (before, after) = (welch(&a, &b).unwrap(), welch(&shifted(&a), &shifted(&b)).unwrap());
        prop_assert!(near(before.t, after.t) && near(before.p, after.p) && near(before.df, after.df));
        prop_assert_eq!(mann_whitney(&a, &b), mann_whitney(&shifted(&a), &shifted(&b)));
    }

    #[test]
    fn a_unit_changes_no_test(a in samples(), b in samples(), power in -40..40) {
        // A power of two, so that not even rounding may differ.
        let scaled = |v: &[f64]| map(v, |x| x * f64::from(power).exp2());
        let (before, after) = (welch(&a, &b).unwrap(), welch(&scaled(&a), &scaled(&b)).unwrap());
        prop_assert_eq!((before.t, before.df, before.p), (after.t, after.df, after.p));
        let interval = |a: &[f64], b: &[f64]| {
            let rounds: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
            rounds_ratio_ci(&complete(&rounds), 7)
        };
        prop_assert_eq!(interval(&a, &b), interval(&scaled(&a), &scaled(&b)));
        let share = |v: &[f64]| split_floor(v).map(|f| f.share);
        prop_assert_eq!(share(&a), share(&scaled(&a)));
    }

    #[test]
    fn ranks_see_only_the_order(a in samples(), b in samples()) {
        let cubed = |v: &[f64]| map(v, |x| x * x * x);
        prop_assert_eq!(mann_whitney(&a, &b), mann_whitney(&cubed(&a), &cubed(&b)));
    }

    #[test]
    fn the_order_of_samples_changes_nothing(a in samples(), b in samples(), turn in 0_usize..25) {
        let mut turned = a.clone();
        turned.rotate_left(turn % a.len());
        turned.reverse();
        let (s, r) = (describe(&a).unwrap(), describe(&turned).unwrap());
        prop_assert!(near(s.mean, r.mean) && near(s.sd, r.sd));
        prop_assert_eq!((s.median, s.min, s.max), (r.median, r.min, r.max));
        let (before, after) = (welch(&a, &b).unwrap(), welch(&turned, &b).unwrap());
        prop_assert!(near(before.p, after.p));
        prop_assert_eq!(mann_whitney(&a, &b), mann_whitney(&turned, &b));
    }

    #[test]
    fn the_summary_is_in_order(a in samples()) {
        let s = describe(&a).unwrap();
        prop_assert!(s.min <= s.median && s.median <= s.max && s.sd >= 0.0);
        prop_assert!(s.ci95[0] <= s.mean && s.mean <= s.ci95[1]);
        prop_assert!(near(half_width(&a, 0.95).unwrap(), (s.ci95[1] - s.ci95[0]) / 2.0));
        prop_assert!(half_width(&a, 0.99) >= half_width(&a, 0.95));
    }

    #[test]
    fn interval_and_p_say_the_same(a in samples(), b in samples()) {
        let t = welch(&a, &b).unwrap();
        prop_assume!((t.p - 0.05).abs() > 1e-9);
        prop_assert_eq!(t.p < 0.05, t.ci95[0] > 0.0 || t.ci95[1] < 0.0);
    }

    #[test]
    fn the_bootstrap_contains_the_ratio(pairs in timings(), seed: u64) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let ratio = a.iter().sum::<f64>() / b.iter().sum::<f64>();
        let [lo, hi] = rounds_ratio_ci(&complete(&pairs), seed).unwrap();
        prop_assert!(lo <= ratio * (1.0 + 1e-12) && ratio * (1.0 - 1e-12) <= hi, "{lo} {ratio} {hi}");
    }

    #[test]
    fn holm_lies_between_p_and_bonferroni(p in prop::collection::vec(0.0..1.0, 0..20)) {
        let adjusted = holm(&p);
        prop_assert_eq!(adjusted.len(), p.len());
        for (i, (&raw, &held)) in p.iter().zip(&adjusted).enumerate() {
            prop_assert!(raw <= held && held <= (raw * p.len() as f64).min(1.0));
            for (j, &other) in p.iter().enumerate() {
                prop_assert!(raw > other || held <= adjusted[j], "{i} before {j}");
            }
        }
        let backwards: Vec<f64> = p.iter().rev().copied().collect();
        prop_assert_eq!(adjusted.into_iter().rev().collect::<Vec<_>>(), holm(&backwards));
    }

    #[test]
    fn the_floor_is_no_smaller_than_what_was_seen(a in samples(), b in samples()) {
        for floor in [noise_floor(&a, &b), split_floor(&a)].into_iter().flatten() {
            prop_assert!(floor.ci99[0] <= floor.difference && floor.difference <= floor.ci99[1]);
            prop_assert!(floor.share >= 0.0 && floor.share.is_finite());
        }
    }

    #[test]
    fn no_finite_input_panics_or_leaves_the_finite(a in wild(), b in wild(), level in prop::num::f64::ANY) {
        let mut out = Vec::new();
        if let Some(s) = describe(&a) {
            out.extend([s.mean, s.sd, s.median, s.min, s.max, s.ci95[0], s.ci95[1]]);
        }
        for t in [welch(&a, &b), pooled(&a, &b)].into_iter().flatten() {
            out.extend([t.difference, t.se, t.t, t.df, t.p, t.ci95[0], t.ci95[1]]);
            out.extend(t.ci(level));
        }
        for f in [noise_floor(&a, &b), split_floor(&a)].into_iter().flatten() {
            out.extend([f.difference, f.ci99[0], f.ci99[1], f.share]);
        }
        let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        out.extend(rounds_ratio_ci(&complete(&pairs), 1).into_iter().flatten());
        out.extend([half_width(&a, level), mann_whitney(&a, &b)].into_iter().flatten());
        out.extend(holm(&a));
        prop_assert!(out.iter().all(|x| x.is_finite()), "{out:?}");
    }
}
