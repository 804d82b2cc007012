//! The whole rule's rates of false claims and of missed differences.

use super::super::floor::Floor;
use super::super::verdict::ALPHA;
use super::super::*;
use super::complete;
use super::rates::{honest, rate};
use crate::Verdict;
use crate::random::{MEAN, SD, Source, column};

/// How many verdicts a rate is taken over, each of three tests and sometimes a bootstrap: more where CYCLEWISE_LONG is set, as CI does.
fn verdicts(short: usize, long: usize) -> usize {
    match std::env::var_os("CYCLEWISE_LONG") {
        Some(_) => long,
        None => short,
    }
}

/// Checks the verdict's rate of claims under a true null.
fn cautious(rate: f64) -> Result<(), String> {
    if rate <= 0.01 {
        Ok(())
    } else {
        Err(format!("the verdict rejected {} % of true nulls", 100.0 * rate))
    }
}

/// The whole rule, as the lab applies it to one comparison of rounds.
fn judge(a: &[f64], b: &[f64], floor: Option<Floor>) -> Verdict {
    let (t, p_rank) = (welch(a, b).unwrap(), mann_whitney(a, b).unwrap());
    let p_holm = holm(&[t.p])[0];
    // The bootstrap can only withdraw a claim, so it is skipped if there is none, which saves most of the time.
    let ratio = if p_holm < ALPHA && p_rank < ALPHA {
        let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        rounds_ratio_ci(&complete(&pairs), 1).unwrap()
    } else {
        [0.0, 2.0]
    };
    let mean = b.iter().sum::<f64>() / b.len() as f64;
    verdict(t.difference, mean, p_holm, p_rank, ratio, floor.map(|f| f.share), false)
}

fn claims(verdict: Verdict) -> bool {
    verdict.is_claim()
}

#[test]
fn the_verdict_rarely_claims_nothing() {
    let gaussian = rate(verdicts(500, 1500), 7, |s| {
        let [a, again, b] = [(); 3].map(|()| column(30, || s.gaussian(SD)));
        claims(judge(&a, &b, noise_floor(&a, &again)))
    });
    cautious(gaussian).unwrap();
    let spiky = rate(verdicts(500, 1500), 8, |s| {
        let [a, again, b] = [(); 3].map(|()| column(30, || s.spiky(SD)));
        claims(judge(&a, &b, noise_floor(&a, &again)))
    });
    cautious(spiky).unwrap();
    let split = rate(verdicts(500, 1500), 9, |s| {
        let [a, b] = [(); 2].map(|()| column(30, || s.gaussian(SD)));
        claims(judge(&a, &b, split_floor(&a)))
    });
    cautious(split).unwrap();
}

/// `columns` columns of `n` samples under a drifting level, measured in rounds or one column after the other.
fn drifting(s: &mut Source, columns: usize, n: usize, interleaved: bool) -> Vec<Vec<f64>> {
    let mut level = 0.0;
    let mut out = vec![Vec::with_capacity(n); columns];
    for step in 0..n * columns {
        level += 0.05 * SD * s.normal();
        let column = if interleaved { step % columns } else { step / n };
        out[column].push(level + s.gaussian(SD));
    }
    out
}

#[test]
fn a_drift_is_harmless_in_rounds_and_caught_without_them() {
    let whole_rule = rate(verdicts(300, 1000), 10, |s| {
        let c = drifting(s, 3, 100, true);
        claims(judge(&c[0], &c[2], noise_floor(&c[0], &c[1])))
    });
    cautious(whole_rule).unwrap();
    // The twin: one variant after the other, judged by p alone.
    let p_alone = rate(1000, 10, |s| {
        let c = drifting(s, 2, 100, false);
        welch(&c[0], &c[1]).unwrap().p < ALPHA
    });
    cautious(p_alone).unwrap_err();
    honest(p_alone).unwrap_err();
    // Known gap: the floor of one control does not correct it either; only the rounds do.
    let without_rounds = rate(200, 10, |s| {
        let c = drifting(s, 3, 100, false);
        claims(judge(&c[0], &c[2], noise_floor(&c[0], &c[1])))
    });
    cautious(without_rounds).unwrap_err();
}

#[test]
fn one_percent_is_found_and_pointed_the_right_way() {
    let found = |split: bool| {
        rate(verdicts(20, 60), 11, |s| {
            let [a, again, mut b] = [(); 3].map(|()| column(300, || s.gaussian(SD)));
            b.iter_mut().for_each(|x| *x += 0.01 * MEAN);
            let floor = if split {
                split_floor(&a)
            } else {
                noise_floor(&a, &again)
            };
            judge(&a, &b, floor) == Verdict::Faster
        })
    };
    assert!(found(false) >= 0.95, "{}", found(false));
    assert!(found(true) >= 0.95, "{}", found(true));
}
