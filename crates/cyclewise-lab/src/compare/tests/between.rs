//! Records of one machine on one build: how many rows get a verdict, and whether a change is found.

use super::*;
use crate::record::Run;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::TAU;

/// Rows of a made-up experiment.
const ROWS: usize = 40;
/// Rounds of a made-up run.
const ROUNDS: usize = 300;

struct Source(Xoshiro256PlusPlus);

impl Source {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A standard normal number, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v): (f64, f64) = (self.0.random(), self.0.random());
        (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
    }
}

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
    let mut busy = source.0.random_bool(0.5);
    let mut samples = vec![Vec::new(); ROWS];
    for _ in 0..ROUNDS {
        busy ^= source.0.random_bool(1.0 / noise.length);
        for (row, level) in levels.iter().enumerate() {
            let state = if busy { 1.0 + noise.busy } else { 1.0 };
            samples[row].push(level * state * (1.0 + 0.003 * source.normal()));
        }
    }
    let variants = samples.into_iter().enumerate().map(|(row, samples)| {
        let s = stats::describe(&samples).unwrap();
        Variant {
            name: format!("row-{row}"),
            n: s.n,
            mean: s.mean,
            median: s.median,
            samples,
            ..Variant::default()
        }
    });
    let mut record = record(1e9, variants.collect());
    record.runs = vec![Run::of(&record)];
    record
}

/// A record of `k` runs.
fn record_of(source: &mut Source, k: usize, noise: Noise, change: f64) -> Record {
    let runs = (0..k).map(|n| (format!("run {n}"), run(source, noise, change)));
    join_runs(runs.collect(), &["e"]).unwrap()
}

/// The share of rows with a claim, over `pairs` pairs of records of `k` runs.
fn claimed(k: usize, noise: Noise, change: f64, pairs: usize) -> f64 {
    let mut source = Source::new(7);
    let mut claims = 0;
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
            let share = claimed(k, noise, 1.0, 12);
            assert!(share <= 0.02, "{name}, {k} runs: {share}");
        }
    }
    for (name, noise) in [("calm", CALM), ("neighbour", neighbour)] {
        let share = claimed(1, noise, 1.0, 12);
        assert!(share <= 0.02, "{name}, one run: {share}");
    }
}

#[test]
fn a_change_of_ten_percent_is_found() {
    for k in [1, 3, 5] {
        let share = claimed(k, CALM, 1.1, 5);
        assert!(share >= 0.95, "{k} runs: {share}");
    }
    let layout = Noise { runs: 0.03, ..CALM };
    let share = claimed(5, layout, 1.1, 5);
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
