//! Rows that are not linear, from batches to verdicts, with twins.

use super::super::*;
use super::{Log, constant_pair, judged, made};
use crate::record::made_up::{in_context, record_of};
use crate::record::{Experiment, Verdict};

/// The experiment of two rows whose loops of 4, 8 and 16 copies take these ticks.
fn of_three_lengths(a: [u64; 3], b: [u64; 3]) -> Experiment {
    let log = Log::default();
    let setup = constant_pair(&log);
    let mut measured = made(0);
    for (column, ticks) in measured.columns.iter_mut().zip([a, b]) {
        column.loops = Some(Loops {
            iterations: 1000,
            copies: [4, 8, 16],
        });
        for (round, sample) in column.rounds.iter_mut().flatten().enumerate() {
            let wobble = (round * 7 % 11) as u64;
            sample.batches = Some(ticks.map(|ticks| ticks + wobble));
        }
    }
    judged(&setup, &measured).unwrap()
}

/// A fast path for four copies.
const GROWS: [u64; 3] = [7_040, 77_520, 160_000];

#[test]
fn rows_that_are_not_linear_are_compared_at_each_length() {
    let e = of_three_lengths(GROWS, [4_000, 8_000, 16_000]);
    let linear = |i: usize| e.variants[i].linearity.as_ref().unwrap().linear;
    assert_eq!((linear(0), linear(1)), (Some(false), Some(true)));
    assert_eq!(e.variants[0].batches.as_ref().unwrap().ticks[1].len(), 100);
    let c = &e.comparisons[0];
    assert_eq!((c.verdict, &c.reason, &c.among), (Verdict::Slower, &None, &None));
    let ratios: Vec<f64> = c.ratios_at_lengths().iter().map(|(_, ratio, _)| *ratio).collect();
    for (ratio, expected) in ratios.iter().zip([1.76, 9.69, 10.0]) {
        assert!((ratio - expected).abs() < 0.01, "{ratios:?}");
    }
    // Two that agree at all lengths, of which none is linear.
    let e = of_three_lengths(GROWS, GROWS.map(|ticks| 2 * ticks));
    assert_eq!(e.comparisons[0].verdict, Verdict::Faster);
    let e = of_three_lengths(GROWS, GROWS);
    assert_eq!(e.comparisons[0].verdict, Verdict::Same);
}

#[test]
fn rows_that_do_not_agree_at_all_lengths_are_undecided_with_the_reason() {
    let e = of_three_lengths(GROWS, [16_000, 32_000, 64_000]);
    let c = &e.comparisons[0];
    assert_eq!(c.verdict, Verdict::Undecided);
    assert_eq!(
        c.reason.as_deref(),
        Some("not linear: faster at 4 copies, slower at 8 and 16")
    );
    // The twin: without the lengths the slope has no verdict.
    let mut record = record_of(vec![e]);
    record.experiments[0].comparisons[0].lengths.clear();
    give_verdicts(&mut record);
    let c = &record.experiments[0].comparisons[0];
    assert_eq!(c.verdict, Verdict::None);
    assert!(
        c.reason
            .as_ref()
            .unwrap()
            .contains("not linear: a has no constant cost")
    );
}

#[test]
fn what_two_rows_add_among_other_instructions_can_take_a_verdict_back() {
    let judged_beside = |added: &[(&str, f64, f64)]| {
        let mut e = of_three_lengths(GROWS, GROWS.map(|ticks| 2 * ticks));
        e.name = "e".to_string();
        let mut record = record_of(vec![in_context(added), e]);
        give_verdicts(&mut record);
        record.experiments.remove(1).comparisons.remove(0)
    };
    let agrees = judged_beside(&[("adds-30", 0.0, 0.0), ("loads-32", 0.5, 2.0)]);
    assert_eq!((agrees.verdict, agrees.among.unwrap().of), (Verdict::Faster, 2));
    assert!(
        agrees
            .tests
            .iter()
            .any(|t| t.name == "among other instructions" && t.passed)
    );
    for (added, why) in [
        (
            [("adds-30", 0.0, 0.0), ("loads-32", 2.5, 0.5)],
            "not linear: faster at every length, but among other instructions more in 1, the same in 1 of 2 surroundings",
        ),
        (
            [("adds-30", 0.0, 0.0), ("loads-32", 2.0, 2.0)],
            "not linear: faster at every length, but among other instructions the same in 2 of 2 surroundings",
        ),
    ] {
        let c = judged_beside(&added);
        assert_eq!((c.verdict, c.reason.as_deref()), (Verdict::Undecided, Some(why)));
    }
}
