//! The rules on a record of a noisy machine: `runner/data/zen3-noisy.json.gz`.
//!
//! An EPYC of the family Zen 3 (25, model 1), a KVM guest of two CPUs with 1.5 to 3 % steal and a neighbour that comes and
//! goes; `cyclewise run` of 2026-11-22 at commit 627fe1f36, its ten experiments in ticks, samples rounded to six digits. It is
//! one machine on one day: the tests check rates and signs, and no figure was tuned to it.
//!
//! That record has no probe. The other rows of a round tell its state here: each row with two modes says on which side of the
//! valley it was, and four in five have to agree. The rows of the comparison are left out, so that nothing is chosen by
//! its own value. Records with a probe do not need this.

use super::by_state::{ByState, Column};
use super::give_verdicts;
use crate::record::{Comparison, Control, Experiment, Paired, Record, State, StateFloor, Variant, Verdict};
use crate::{record, stats};
use std::io::Read;

fn recorded() -> Record {
    let packed = include_bytes!("data/zen3-noisy.json.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_string(&mut text)
        .unwrap();
    record::from_str("zen3-noisy", &text).unwrap()
}

/// A row's samples by round, of `rounds`.
fn by_round(row: &Variant, rounds: usize) -> Vec<Option<f64>> {
    let mut kept = row.samples.iter();
    let lost = |round| row.rejected_rounds.contains(&round);
    (0..rounds)
        .map(|round| if lost(round) { None } else { kept.next().copied() })
        .collect()
}

/// The share of rows that must agree on the state of a round.
const AGREE: f64 = 0.8;

/// What a row says of each round: +1 above a valley of its values, −1 below it, 0 if its sample was rejected.
fn votes(row: &Variant, rounds: usize) -> Vec<Vec<f64>> {
    let cuts = stats::cuts(&row.samples, stats::LEAST_SHARE).into_iter();
    let rounds = by_round(row, rounds);
    cuts.map(|cut| rounds.iter().map(|r| r.map_or(0.0, |x| (x - cut).signum())).collect())
        .collect()
}

/// The state of each round by the rows that are not `except`; one state if fewer than two rows have two modes.
fn states(e: &Experiment, all: &[(usize, Vec<f64>)], except: &[&str]) -> Vec<State> {
    let rounds = e.rounds;
    let others: Vec<&Vec<f64>> = all
        .iter()
        .filter(|(row, _)| !except.contains(&e.variants[*row].name.as_str()))
        .map(|(_, votes)| votes)
        .collect();
    if others.len() < 2 {
        return vec![State::All; rounds];
    }
    // Some rows are faster when the others are slower: each is turned to agree with the rest.
    let mut turned = vec![1.0; others.len()];
    let mean = |turned: &[f64], round: usize| {
        let sum: f64 = others.iter().zip(turned).map(|(v, t)| t * v[round]).sum();
        sum / others.iter().filter(|v| v[round] != 0.0).count().max(1) as f64
    };
    for _ in 0..3 {
        let agreed: Vec<f64> = (0..rounds).map(|round| mean(&turned, round)).collect();
        for (votes, turn) in others.iter().zip(&mut turned) {
            let of = |x: &[f64]| x.iter().sum::<f64>() / rounds as f64;
            let (a, b) = (of(votes), of(&agreed));
            let together: f64 = votes.iter().zip(&agreed).map(|(x, y)| (x - a) * (y - b)).sum();
            *turn = together.signum();
        }
    }
    let limit = 2.0 * AGREE - 1.0;
    (0..rounds)
        .map(|round| match mean(&turned, round) {
            x if x >= limit => State::Busy,
            x if x <= -limit => State::Quiet,
            _ => State::Mixed,
        })
        .collect()
}

fn column(e: &Experiment, name: &str, states: Vec<State>) -> Column {
    let row = e.variants.iter().find(|v| v.name == name).unwrap();
    Column {
        values: by_round(row, e.rounds),
        states,
    }
}

/// The experiment as a run with a probe would have recorded it.
fn experiment(e: &Experiment) -> Experiment {
    let all: Vec<(usize, Vec<f64>)> = (0..e.variants.len())
        .flat_map(|row| votes(&e.variants[row], e.rounds).into_iter().map(move |v| (row, v)))
        .collect();
    let variant = |row: &Variant| {
        let figures = column(e, &row.name, states(e, &all, &[&row.name])).figures();
        Variant {
            name: row.name.clone(),
            n: row.n,
            median: figures.headline.as_ref().unwrap().median,
            headline: figures.headline,
            states: figures.others,
            ..Variant::default()
        }
    };
    let comparison = |Comparison { a, b, .. }: &Comparison| {
        let of = states(e, &all, &[a, b]);
        let ByState { headline, others } = column(e, a, of.clone()).against(&column(e, b, of));
        Comparison {
            a: a.clone(),
            b: b.clone(),
            headline,
            states: others,
            ..Comparison::default()
        }
    };
    let of = &e.control.as_ref().unwrap().of;
    let control = column(e, of, states(e, &all, &[of]));
    let floor = |state| {
        let floor = stats::split_paired_floor(&control.kept_in(state))?;
        Some(StateFloor {
            state,
            n: floor.n,
            floor: floor.share,
        })
    };
    Experiment {
        name: e.name.clone(),
        rounds: e.rounds,
        control: Some(Control {
            of: of.clone(),
            floor: floor(State::All).unwrap().floor,
            states: [State::Quiet, State::Busy].into_iter().filter_map(floor).collect(),
            ..Control::default()
        }),
        variants: e.variants.iter().map(variant).collect(),
        comparisons: e.comparisons.iter().map(comparison).collect(),
        ..Experiment::default()
    }
}

fn sign(p: &Paired) -> i32 {
    match p.ci95 {
        [Some(low), _] if low > 0.0 => 1,
        [_, Some(high)] if high < 0.0 => -1,
        _ => 0,
    }
}

/// The sign of the difference in the quiet and in the busy state.
fn signs(c: &Comparison) -> [i32; 2] {
    let in_state = |state| {
        c.headline
            .iter()
            .chain(&c.states)
            .find(|p| p.state == state)
            .map_or(0, sign)
    };
    [in_state(State::Quiet), in_state(State::Busy)]
}

#[test]
fn what_changes_its_sign_with_the_neighbour_depends_on_it_and_quiet_rounds_resolve() {
    let data = recorded();
    let mut record = Record {
        experiments: data.experiments.iter().map(experiment).collect(),
        ..Record::default()
    };
    give_verdicts(&mut record);
    let before = data.experiments.iter().flat_map(|e| &e.comparisons);
    let now = record.experiments.iter().flat_map(|e| &e.comparisons);
    let (mut changing, mut depends, mut quiet, mut resolved) = (Vec::new(), Vec::new(), 0, 0);
    for (old, c) in before.zip(now) {
        let (a, b) = (&c.a, &c.b);
        let [in_quiet, in_busy] = signs(c);
        let claimed = |state| {
            c.headline
                .iter()
                .chain(&c.states)
                .any(|p| p.state == state && p.verdict.is_claim())
        };
        // By 95 % intervals alone, one more changes its sign, and is the same within the margin while the neighbour is busy.
        if in_quiet * in_busy < 0 && claimed(State::Busy) {
            changing.push(format!("{a}/{b}"));
        }
        if c.verdict == Verdict::Depends {
            depends.push(format!("{a}/{b}"));
            let reason = c.reason.as_ref().unwrap();
            assert!(
                reason.contains("faster") && reason.contains("slower") && reason.contains("busy"),
                "{reason}"
            );
        }
        if old.verdict == Verdict::Undecided && in_quiet != 0 {
            quiet += 1;
            resolved += usize::from(!matches!(c.verdict, Verdict::Undecided | Verdict::None));
        }
        println!(
            "{a} {b}: {} -> {} {:?}",
            old.verdict.as_str(),
            c.verdict.as_str(),
            c.reason
        );
    }
    println!(
        "{} change their sign: {changing:?}; {} depend: {depends:?}",
        changing.len(),
        depends.len()
    );
    println!("{resolved} of {quiet} that quiet rounds resolve are resolved");
    assert_eq!(changing, depends);
    assert_eq!(changing.len(), 7);
    for known in [
        "lock-inc64/ds-inc64",
        "arc-elided/arc-locked",
        "refcount-elided/refcount",
    ] {
        assert!(depends.iter().any(|d| d == known), "{known}");
    }
    assert!(quiet >= 15 && resolved * 15 >= quiet * 12, "{resolved} of {quiet}");
}

#[test]
fn twin_all_rounds_together_hide_the_sign() {
    let data = recorded();
    let e = data.experiments.iter().find(|e| e.name == "arc").unwrap();
    let all = vec![State::All; e.rounds];
    let together = column(e, "arc-elided", all.clone()).against(&column(e, "arc-locked", all));
    assert_eq!(together.others.len(), 0);
    assert_eq!(sign(&together.headline.unwrap()), 0);
}

/// Blocks of `n` pairs of neighbouring rounds of each row: the same thing measured twice.
fn same_twice(n: usize) -> Vec<Vec<Vec<(f64, f64)>>> {
    let data = recorded();
    let rows = data
        .experiments
        .iter()
        .flat_map(|e| e.variants.iter().map(|row| by_round(row, e.rounds)));
    rows.map(|row| {
        let pair = |rounds: &[Option<f64>]| Some((rounds[0]?, rounds[1]?));
        let pairs: Vec<Option<(f64, f64)>> = row.chunks_exact(2).map(pair).collect();
        let blocks = pairs.chunks_exact(n);
        blocks.map(|block| block.iter().flatten().copied().collect()).collect()
    })
    .collect()
}

#[test]
fn the_same_thing_twice_differs_as_often_as_p_says_and_one_percent_is_found() {
    for (n, power) in [(100, 0.5), (500, 0.95)] {
        let (mut blocks, mut small, mut claims, mut found) = (0, 0, 0, 0);
        for row in same_twice(n) {
            for (i, block) in row.iter().enumerate() {
                let Some(p) = stats::paired(State::All, block) else {
                    continue;
                };
                blocks += 1;
                small += usize::from(p.p < 0.05);
                // The next block of the row is the control.
                let floor = stats::paired_floor(&row[(i + 1) % row.len()]).map(|f| f.share);
                let cost = stats::median(block.iter().map(|(a, _)| a.abs())).unwrap();
                claims += usize::from(stats::decide(&p, p.p, cost, floor, false).verdict.is_claim());
                let slower: Vec<(f64, f64)> = block.iter().map(|(a, b)| (1.01 * a, *b)).collect();
                let p = stats::paired(State::All, &slower).unwrap();
                found += usize::from(p.p < 0.05 && sign(&p) > 0);
            }
        }
        let share = |count: usize| count as f64 / blocks as f64;
        println!(
            "n = {n}, {blocks} blocks: p under 0.05 in {:.1} %, verdicts in {:.1} %, 1 % found in {:.1} %",
            100.0 * share(small),
            100.0 * share(claims),
            100.0 * share(found)
        );
        assert!((0.02..=0.07).contains(&share(small)), "{}", share(small));
        assert!(share(claims) <= 0.02, "{}", share(claims));
        assert!(share(found) >= power, "{}", share(found));
    }
}

#[test]
fn two_parts_of_one_run_differ_by_no_more_than_the_spread_they_show() {
    let data = recorded();
    let (mut rows, mut claims, mut without) = (0, 0, 0);
    for row in data.experiments.iter().flat_map(|e| &e.variants) {
        let kept = &row.samples;
        for parts in [2, 4] {
            let part: Vec<&[f64]> = kept.chunks_exact(kept.len() / parts).collect();
            for pair in part.windows(2) {
                let medians = [pair[0], pair[1]].map(|p| stats::Median::of_series(p).unwrap());
                let spread = [0, 1].map(|i| {
                    let [low, high] = stats::block_range(pair[i]).unwrap();
                    (high - low) / medians[i].median.abs()
                });
                let spread = spread[0].max(spread[1]);
                let difference = (medians[1].median / medians[0].median - 1.0).abs();
                rows += 1;
                claims += usize::from(difference > spread);
                // The twin: the interval of each part alone, as if the next part were drawn from it.
                let [a, b] = [0, 1].map(|i| medians[i].interval(0.95).map(Option::unwrap));
                without += usize::from(a[1] < b[0] || b[1] < a[0]);
            }
        }
    }
    println!("{claims} of {rows} parts differ by more than the spread, {without} by their own intervals");
    assert!(claims * 50 <= rows, "{claims} of {rows}");
    assert!(without * 50 > rows, "{without} of {rows}");
}
