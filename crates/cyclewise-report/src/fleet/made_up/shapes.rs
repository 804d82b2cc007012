//! Groups that are not normal: two modes, heavy tails, unsteady machines, groups of different spread.

use super::*;

#[test]
fn a_group_of_two_modes_has_no_outliers_and_is_noted() {
    let report = report_of(200, 2, |machine, row, runs| {
        if row == 0 && machine.is_multiple_of(4) {
            shift(runs, 0.5_f64.exp());
        }
    });
    assert!(report.outliers.is_empty(), "{:?}", report.outliers);
    assert_noted(&report, &["lie around 2 values", "1 (75\u{a0}%), 1.64 (25\u{a0}%)"]);
}

#[test]
fn a_group_without_a_centre_names_nobody() {
    // Too few for modes to be told apart, and a third is elsewhere.
    let report = report_of(24, 1, |machine, _, runs| {
        if machine.is_multiple_of(3) {
            shift(runs, (1.0 + machine as f64 * 0.1).exp());
        }
    });
    assert!(report.outliers.is_empty(), "{:?}", report.outliers);
    assert_eq!(report.search.untested_machines, 24);
    assert_noted(&report, &["8 of 24 machines of group A are far from its centre"]);
}

#[test]
fn a_machine_whose_runs_disagree_is_unsteady_and_not_slow() {
    let report = report_of(60, 1, |machine, _, runs| {
        if machine == 5 {
            *runs = vec![runs[0], runs[0] + 0.3, runs[0] + 0.9];
        }
    });
    assert!(report.outliers.is_empty(), "{:?}", report.outliers);
    assert_noted(
        &report,
        &["n0-00005 is unsteady in lock-prefix lock-inc64: its 3 runs lie 2.4"],
    );
}

/// Machines with Student's t of three degrees of freedom: a normal number over the root of a third of a chi-squared one.
fn heavy(seed: u64) -> Vec<Member> {
    let mut s = Source::new(seed);
    let row = |log: f64| made_row(&names(0), &[log]);
    let mut one = |machine: usize| {
        let chi2 = (0..3).map(|_| s.normal().powi(2)).sum::<f64>() / 3.0;
        member(
            &format!("n{machine:05}"),
            0,
            1,
            vec![row(3.0 + 0.02 * s.normal() / chi2.sqrt())],
        )
    };
    (0..3000).map(&mut one).collect()
}

#[test]
fn heavy_tails_are_no_outliers_and_normal_tails_would_make_them_some() {
    let report = report(heavy(1));
    assert!(report.outliers.len() <= 2, "{:?}", report.outliers.len());
    // The twin: at 5 standard deviations a normal p is 6e-7, a discovery among 3000.
    let twin = report.rows[0]
        .distances
        .iter()
        .filter(|far| far.sigmas.abs() > 5.0)
        .count();
    assert!(twin > 20, "{twin}");
}

#[test]
fn twin_without_a_rate_held_over_all_tests_names_one_machine_in_twenty() {
    let report = report(MADE.members(as_made));
    assert!(report.outliers.len() <= 1, "{:?}", report.outliers);
    let far = report.rows.iter().flat_map(|row| &row.distances);
    let twin = far.filter(|far| far.p <= 0.05).count();
    assert!((4..=24).contains(&twin), "{twin} of {}", report.search.tests);
}

#[test]
fn machines_of_a_group_with_more_spread_are_not_taken_for_outliers() {
    let wide = |group: usize, _: usize, _: usize, runs: &mut Vec<f64>| {
        if group == 0 {
            runs.iter_mut().for_each(|run| *run = 3.0 + (*run - 3.0) * 10.0);
        }
    };
    let made = Made {
        groups: 5,
        machines: 40,
        between_groups: 0.0,
        ..MADE
    };
    let report = report(made.members(wide));
    assert!(report.outliers.len() <= 1, "{:?}", report.outliers);
}
