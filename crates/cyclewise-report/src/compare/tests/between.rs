//! Records of one machine on one build: how many rows get a verdict, and whether a change is found.

use super::*;
use crate::record::Run;
use crate::stats::random::Source;

/// Rows of a made-up experiment.
const ROWS: usize = 40;
/// Rounds of a made-up run.
const ROUNDS: usize = 300;

/// What a made-up machine does to figures.
#[derive(Clone, Copy)]
struct Noise {
    /// Standard deviation between runs of each row's level: layout, pages.
    runs: f64,
    /// How far a busy neighbour slows every row.
    busy: f64,
    /// The mean length of a state, in rounds.
    length: f64,
}

/// A run of rows that take `change` times as long as they should.
fn run(source: &mut Source, noise: Noise, change: f64) -> Record {
    let levels: Vec<f64> = (0..ROWS)
        .map(|row| (row + 1) as f64 * change * (noise.runs * source.normal()).exp())
        .collect();
    let mut busy = source.even() < 0.5;
    let mut samples = vec![Vec::new(); ROWS];
    for _ in 0..ROUNDS {
        busy ^= source.even() < 1.0 / noise.length;
        for (row, level) in levels.iter().enumerate() {
            let state = if busy { 1.0 + noise.busy } else { 1.0 };
            samples[row].push(level * state * (1.0 + 0.003 * source.normal()));
        }
    }
    let rows = samples.into_iter().enumerate();
    let variants = rows.map(|(row, samples)| sampled(&format!("row-{row}"), samples));
    let mut record = record(1e9, variants.collect());
    record.runs = vec![Run::of_record(&record)];
    record
}

fn joined(runs: impl IntoIterator<Item = Record>) -> Record {
    let mut runs = runs.into_iter();
    let mut all = runs.next().unwrap();
    for mut run in runs {
        all.runs.append(&mut run.runs);
        let rows = &mut all.experiments[0].variants;
        for (row, own) in rows.iter_mut().zip(&run.experiments[0].variants) {
            row.samples.extend(&own.samples);
            row.n = row.samples.len();
            row.median = stats::median(row.samples.iter().copied()).unwrap();
        }
    }
    all
}

fn record_of(source: &mut Source, k: usize, noise: Noise, change: f64) -> Record {
    joined((0..k).map(|_| run(source, noise, change)))
}

/// The share of rows with a claim, over `pairs` pairs of records of `k` runs; of three times as many where CYCLEWISE_LONG is set.
fn claimed(k: usize, noise: Noise, change: f64, pairs: usize) -> f64 {
    let mut source = Source::new(7);
    let mut claims = 0;
    let pairs = pairs
        * if std::env::var_os("CYCLEWISE_LONG").is_some() {
            3
        } else {
            1
        };
    for _ in 0..pairs {
        let records = [1.0, change].map(|c| record_of(&mut source, k, noise, c));
        let verdicts = verdicts(&report(records.into()));
        claims += verdicts.iter().filter(|v| v.is_claim()).count();
    }
    claims as f64 / (pairs * ROWS) as f64
}

const CALM: Noise = Noise {
    runs: 0.005,
    busy: 0.0,
    length: 50.0,
};

#[test]
fn records_of_one_machine_claim_next_to_nothing() {
    let layout = Noise { runs: 0.03, ..CALM };
    let neighbour = Noise {
        busy: 0.3,
        length: 40.0,
        ..CALM
    };
    for (name, noise) in [("calm", CALM), ("layout", layout), ("neighbour", neighbour)] {
        for k in [2, 3, 5] {
            let share = claimed(k, noise, 1.0, 4);
            assert!(share <= 0.02, "{name}, {k} runs: {share}");
        }
    }
    for (name, noise) in [("calm", CALM), ("neighbour", neighbour)] {
        let share = claimed(1, noise, 1.0, 4);
        assert!(share <= 0.02, "{name}, one run: {share}");
    }
}

#[test]
fn a_change_of_ten_percent_is_found() {
    for k in [1, 3, 5] {
        let share = claimed(k, CALM, 1.1, 2);
        assert!(share >= 0.95, "{k} runs: {share}");
    }
    let layout = Noise { runs: 0.03, ..CALM };
    let share = claimed(5, layout, 1.1, 2);
    assert!(share >= 0.8, "layouts that differ by 3 %: {share}");
}

#[test]
fn samples_of_two_runs_tested_against_each_other_would_claim_most_rows() {
    // The broken twin: Welch's t over samples, which takes a run's own spread for the spread between runs.
    let mut source = Source::new(7);
    let records = [1.0, 1.0].map(|c| record_of(&mut source, 1, CALM, c));
    let report = report(records.into());
    let rows = &report.experiments[0].rows;
    let claims = rows.iter().filter(|r| r.p_holm < 0.05).count();
    assert!(claims > ROWS / 2, "{claims} of {ROWS}");
    assert!(rows.iter().all(|r| !r.verdict.is_claim()));
}

#[test]
fn several_runs_show_that_two_records_are_the_same() {
    let tight = Noise { runs: 0.001, ..CALM };
    let mut source = Source::new(7);
    let records = [1.0, 1.0].map(|c| record_of(&mut source, 5, tight, c));
    let verdicts = verdicts(&report(records.into()));
    let same = verdicts.iter().filter(|v| **v == Verdict::Same).count();
    assert!(same as f64 > 0.9 * ROWS as f64, "{same} of {ROWS}");
}

/// A record of runs with these medians of its one row, whose samples are spread by ± 1 % around the first.
fn of_medians(medians: &[f64], floor: f64) -> Record {
    joined(medians.iter().map(|median| {
        let mut record = record(1e9, vec![variant("a", *median)]);
        record.experiments[0].control.as_mut().unwrap().floor = floor;
        record.runs = vec![Run::of_record(&record)];
        record
    }))
}

fn verdict_of(medians: [&[f64]; 2], floor: f64) -> Verdict {
    verdicts(&report(medians.map(|m| of_medians(m, floor)).into()))[0]
}

const TEN: [f64; 5] = [9.99, 10.0, 10.01, 10.0, 10.0];

#[test]
fn no_noise_floor_makes_a_large_difference_the_same() {
    let times = |factor: f64| TEN.map(|m| m * factor);
    assert_eq!(verdict_of([&TEN, &times(1.25)], 0.01), Verdict::Slower);
    assert_eq!(verdict_of([&TEN, &times(1.25)], 0.4), Verdict::Undecided, "beyond 5 %");
    assert_eq!(
        verdict_of([&TEN, &times(1.03)], 0.04),
        Verdict::Undecided,
        "proven, beyond 1 %"
    );
    assert_eq!(verdict_of([&TEN, &times(1.005)], 0.04), Verdict::Same);
}

#[test]
fn the_floor_is_a_share_of_the_larger_figure() {
    // Half again as long: a third of the larger.
    let longer = TEN.map(|m| m * 1.5);
    for [base, other] in [[&TEN, &longer], [&longer, &TEN]] {
        assert_eq!(verdict_of([base, other], 0.35), Verdict::Undecided);
        assert!(verdict_of([base, other], 0.32).is_claim());
    }
}

#[test]
fn few_runs_whose_parts_say_nothing_prove_nothing() {
    let few = |medians: &[f64], samples: usize| {
        let mut record = of_medians(medians, 0.002);
        record.experiments[0].variants[0].samples.truncate(samples);
        record
    };
    let (base, other) = ([9.99, 10.0, 10.01], [14.99, 15.0, 15.01]);
    let row = |samples: usize| report(vec![few(&base, samples), few(&other, samples)]).experiments[0].rows[0].clone();
    assert_eq!(row(50).verdict, Verdict::Slower);
    let without = row(3);
    assert_eq!(without.verdict, Verdict::Undecided);
    assert_says!(without.reason.unwrap(), "fewer than 5 on a side");
}

#[test]
fn quiet_rounds_of_some_runs_are_not_compared_with_all_rounds_of_others() {
    // Each run takes 10 while the neighbour is quiet and 13 over all; a run with few quiet rounds has no quiet headline.
    let run = |quiet: bool| {
        let mut v = variant("a", 13.0);
        v.headline = quiet.then(|| Figure {
            state: State::Quiet,
            n: 20,
            median: 10.0 * v.median / 13.0,
            ..Figure::default()
        });
        let mut record = record(1e9, vec![v]);
        record.runs = vec![Run::of_record(&record)];
        record
    };
    let of = |quiet: [bool; 5]| joined(quiet.map(run));
    let row = |a, b| report(vec![of(a), of(b)]).experiments[0].rows[0].clone();
    let mostly = [true, true, false, true, true];
    for other in [mostly, [false; 5]] {
        let row = row([true; 5], other);
        assert!(
            row.basis.state == State::All && (row.ratio - 1.0).abs() < 1e-9 && !row.verdict.is_claim(),
            "{row:?}"
        );
        assert!((row.basis.base - 13.0).abs() < 0.1, "{:?}", row.basis);
    }
    let quiet = row([true; 5], [true; 5]);
    assert!(quiet.basis.state == State::Quiet && (quiet.basis.base - 10.0).abs() < 0.1);
    // The twin: headlines compared whatever their state.
    let headlines = |r: &Record| r.runs.iter().filter_map(|r| r.median("e", "a")).collect::<Vec<_>>();
    let wrong = stats::ratio_between_runs(&headlines(&of([false; 5])), &headlines(&of(mostly))).unwrap();
    assert!(wrong.ratio > 1.2 && wrong.p < 0.05, "{wrong:?}");
}

#[test]
fn runs_of_older_versions_are_read_by_their_headlines() {
    let mut old = of_medians(&TEN, 0.002);
    for run in &mut old.runs {
        run.states.clear();
        run.all.clear();
    }
    let row = report(vec![old.clone(), old]).experiments[0].rows[0].clone();
    assert!(
        (row.basis.base - 10.0).abs() < 0.1 && row.basis.base_runs == 5,
        "{row:?}"
    );
}
