//! Rows that are not linear in two records, with twins.

use super::*;
use crate::record::Run;
use crate::record::made_up::{bent, in_context};

/// The row of a record with a row that costs this at 4, 8 and 16 copies, and of one whose costs are these times as high.
fn compared(times: [f64; 3], change: impl Fn(&mut [Record; 2])) -> CompareRow {
    let costs = [1.5, 9.0, 7.0];
    let other = [0, 1, 2].map(|i: usize| costs[i] * times[i]);
    let mut records = [costs, other].map(|costs| record(1e9, vec![bent("a", costs, "")]));
    change(&mut records);
    report(records.to_vec()).experiments[0].rows[0].clone()
}

/// Three runs on each side, whose figures differ by a tenth of a percent.
fn with_runs(records: &mut [Record; 2]) {
    for record in records {
        let all = [0.999, 1.0, 1.001].map(|times| {
            let mut run = record.clone();
            let v = &mut run.experiments[0].variants[0];
            let per_copy = v.linearity.as_ref().unwrap().per_copy.map(|cost| cost * times);
            *v = bent("a", per_copy, "");
            Run::of_record(&run)
        });
        record.runs = all.to_vec();
    }
}

#[test]
fn what_all_lengths_show_is_the_verdict_and_the_ratio_is_the_nearest_to_1() {
    let row = compared([1.5, 3.0, 2.0], |_| {});
    assert_eq!(row.verdict, Verdict::Slower);
    assert!((row.ratio - 1.5).abs() < 0.01, "{}", row.ratio);
    let [low, high] = row.ratio_ci95.map(Option::unwrap);
    assert!(low < 1.5 && high > 3.0, "{:?}", row.ratio_ci95);
    let copies: Vec<f64> = row.lengths.iter().map(|at| at.copies).collect();
    assert_eq!(copies, [4.0, 8.0, 16.0]);
    // All figures are of the loop that the ratio is of, and none of a slope.
    assert!((row.base_stats.mean - 1.5).abs() < 0.01 && (row.basis.other - 2.25).abs() < 0.01);
    assert_eq!(compared([0.5, 0.2, 0.3], |_| {}).verdict, Verdict::Faster);
}

#[test]
fn lengths_that_do_not_agree_are_undecided_with_the_reason() {
    let row = compared([0.5, 3.0, 2.0], |_| {});
    assert_eq!(row.verdict, Verdict::Undecided);
    assert_eq!(
        row.reason.as_deref(),
        Some("not linear: faster at 4 copies, slower at 8 and 16")
    );
    let row = compared([1.5, 3.0, 1.0], |_| {});
    assert_eq!(
        row.reason.as_deref(),
        Some("not linear: slower at 4 and 8 copies, undecided at 16")
    );
}

#[test]
fn several_runs_can_show_that_all_lengths_are_the_same() {
    assert_eq!(compared([1.0; 3], with_runs).verdict, Verdict::Same);
    assert_eq!(compared([1.1, 1.2, 1.3], with_runs).verdict, Verdict::Slower);
    // The twins: one run on a side shows no such small difference, and one length of three is another.
    assert_eq!(compared([1.0; 3], |_| {}).verdict, Verdict::Undecided);
    assert_eq!(compared([1.0, 1.0, 1.3], with_runs).verdict, Verdict::Undecided);
}

#[test]
fn loops_of_other_lengths_have_no_verdict() {
    let row = compared([1.5, 3.0, 2.0], |[_, other]| {
        let v = &mut other.experiments[0].variants[0];
        v.linearity.as_mut().unwrap().copies = [8.0, 16.0, 32.0];
    });
    assert_eq!((row.verdict, row.lengths.len()), (Verdict::None, 0));
    assert_says!(row.reason.unwrap(), "not linear in its copies");
}

#[test]
fn what_the_row_adds_among_other_instructions_can_take_the_verdict_back() {
    let beside = |before: f64, after: f64| {
        compared([1.5, 3.0, 2.0], |records| {
            for (record, ticks) in records.iter_mut().zip([before, after]) {
                record
                    .experiments
                    .push(in_context(&[("adds-30", 0.0, 0.0), ("loads-32", ticks, 1.0)]));
            }
        })
    };
    assert_eq!(beside(1.0, 3.0).verdict, Verdict::Slower);
    for (before, after, why) in [
        (3.0, 1.0, "less in 1, the same in 1 of 2 surroundings"),
        (2.0, 2.1, "the same in 2 of 2 surroundings"),
    ] {
        let row = beside(before, after);
        assert_eq!(row.verdict, Verdict::Undecided);
        assert!(row.reason.unwrap().ends_with(why), "{why}");
    }
}
