//! Records of few samples, as `time` writes them: what order statistics and the exact rank test decide, over many seeds.

use super::*;
use crate::compare::FailOn;
use crate::error::Status;
use crate::stats::random::Source;

/// Milliseconds of a command: a spread of 3 %, and one run in ten that takes up to three times as long.
fn samples(source: &mut Source, n: usize, typical: f64) -> Vec<f64> {
    let one = |source: &mut Source| {
        let late = if source.even() < 0.1 {
            1.0 + 2.0 * source.even()
        } else {
            1.0
        };
        typical * late * (0.03 * source.normal()).exp()
    };
    (0..n).map(|_| one(source)).collect()
}

fn timed(samples: Vec<f64>) -> Record {
    let floor = stats::split_paired_floor(&samples);
    let mut record = record(1e9, vec![sampled("make", samples)]);
    record.experiments[0].unit = Unit::Seconds;
    record.experiments[0].control = floor.map(|f| Control {
        n: f.n,
        floor: f.share,
        ..Control::default()
    });
    record
}

fn row_of(base: Vec<f64>, other: Vec<f64>) -> CompareRow {
    report(vec![timed(base), timed(other)]).experiments[0].rows[0].clone()
}

/// How often `n` samples of a command and `n` of one that takes `ratio` as long get a verdict, of `times` seeds.
fn claimed(n: usize, ratio: f64, times: u64) -> f64 {
    let mut claims = 0;
    for seed in 0..times {
        let source = &mut Source::new(seed);
        let row = row_of(samples(source, n, 1.0), samples(source, n, ratio));
        claims += u32::from(row.verdict.is_claim());
    }
    f64::from(claims) / times as f64
}

#[test]
fn equal_commands_are_told_apart_in_at_most_one_of_a_hundred_comparisons() {
    for n in [5, 6, 7, 9, 12, 20, 29] {
        let share = claimed(n, 1.0, 400);
        assert!(share <= 0.01, "{n} samples: {share}");
    }
}

#[test]
fn regressions_of_few_samples_are_found() {
    for (n, ratio, least) in [
        (5, 5.2, 0.98),
        (6, 5.2, 0.98),
        (20, 1.8, 0.98),
        (20, 1.3, 0.9),
        (12, 1.8, 0.9),
    ] {
        let share = claimed(n, ratio, 200);
        assert!(share >= least, "{n} samples, {ratio} times: {share}");
    }
    // The twin: the ranges of twenty samples, of which one is late, meet in most comparisons.
    let meet = (0..200).filter(|&seed| {
        let source = &mut Source::new(seed);
        let [b, o] = [1.0, 1.8].map(|typical| stats::describe(&samples(source, 20, typical)).unwrap());
        o.min < b.max
    });
    assert!(meet.count() > 100);
}

#[test]
fn five_and_five_that_do_not_overlap_are_decided_and_four_are_not() {
    let base = [1.0, 1.01, 1.02, 1.03, 1.3];
    let row = row_of(base.to_vec(), base.map(|x| 5.2 * x).to_vec());
    assert_eq!(row.verdict, Verdict::Slower, "{row:?}");
    assert!((row.p_rank - 2.0 / 252.0).abs() < 1e-12);
    let [low, high] = row.ratio_ci95.map(Option::unwrap);
    assert!(
        (low - 5.2 / 1.3).abs() < 1e-9 && (high - 5.2 * 1.3).abs() < 1e-9,
        "ratios of the ends: {low} {high}"
    );
    let few = row_of(base[..4].to_vec(), base[..4].iter().map(|x| 5.2 * x).collect());
    assert_eq!((few.verdict, few.ratio_ci95), (Verdict::None, [None; 2]));
    assert_says!(few.reason.unwrap(), "4 and 4 samples");
    // They overlap.
    let row = row_of(base.to_vec(), base.map(|x| 1.2 * x).to_vec());
    assert_eq!(row.verdict, Verdict::Undecided);
}

#[test]
fn six_samples_have_the_interval_of_their_range_and_twenty_that_of_their_order() {
    let interval = |n: usize| {
        // One late run, in an order without correlation.
        let base: Vec<f64> = (0..n)
            .map(|i| if i == 3 { 9.0 } else { 1.0 + 0.01 * (i * 7 % n) as f64 })
            .collect();
        row_of(base.clone(), base).ratio_ci95.map(Option::unwrap)
    };
    assert!((interval(6)[1] - 9.0).abs() < 1e-9, "{:?}", interval(6));
    assert!(interval(20)[1] < 1.2, "{:?}", interval(20));
}

#[test]
fn what_cannot_be_decided_has_its_own_exit_status() {
    let of = |n: usize, ratio: f64| {
        let base: Vec<f64> = (0..n).map(|i| 1.0 + 0.002 * (i * 7 % 11) as f64).collect();
        let other = base.iter().map(|x| ratio * x).collect();
        let report = report(vec![timed(base), timed(other)]);
        "slower:5%"
            .parse::<FailOn>()
            .unwrap()
            .check(&report)
            .map_err(|e| (e.status, e.message))
    };
    let (status, said) = of(5, 5.2).unwrap_err();
    assert!(status == Status::CheckFailed, "{said}");
    assert_says!(said, "e/make in B: 5.200 [");
    assert_eq!(of(20, 1.8).unwrap_err().0, Status::CheckFailed);
    for (n, ratio) in [(4, 5.2), (20, 1.02), (20, 1.06)] {
        let (status, said) = of(n, ratio).unwrap_err();
        assert!(
            status == Status::Unsupported && said.contains("1 of 1 variants may be slower"),
            "{n}: {said}"
        );
    }
    assert_eq!(of(20, 0.9), Ok(()));
}
