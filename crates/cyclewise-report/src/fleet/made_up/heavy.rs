//! Small fleets whose machines are not normal: what is said of ordinary machines in them.

use super::*;

/// A fleet of one run a machine and four rows, each machine at `noise` of 2 %.
fn fleet(groups: usize, machines: usize, seed: u64, noise: impl Fn(usize, &mut Source) -> f64) -> Vec<Member> {
    let mut s = Source::new(seed);
    let names: Vec<_> = (0..4).map(names).collect();
    let mut members = Vec::new();
    for group in 0..groups {
        for machine in 0..machines {
            let rows = names
                .iter()
                .map(|names| made_row(names, &[3.0 + 0.02 * noise(group, &mut s)]))
                .collect();
            members.push(member(&format!("n{group}-{machine:05}"), group, 1, rows));
        }
    }
    members
}

/// Student's t with four degrees of freedom.
fn t4(s: &mut Source) -> f64 {
    let chi2 = (0..4).map(|_| s.normal().powi(2)).sum::<f64>() / 4.0;
    s.normal() / chi2.sqrt()
}

/// How many machines are named in each of `seeds` fleets of ordinary ones.
fn named(groups: usize, machines: usize, seeds: u64, noise: impl Fn(usize, &mut Source) -> f64) -> Vec<usize> {
    let one = |seed| {
        let report = report(fleet(groups, machines, seed, &noise));
        let machines: std::collections::BTreeSet<usize> = report.outliers.iter().map(|o| o.machine).collect();
        machines.len()
    };
    (0..seeds).map(one).collect()
}

#[test]
fn heavy_tails_of_small_fleets_name_next_to_nobody() {
    for (groups, machines) in [(1, 300), (5, 20), (8, 40), (20, 5)] {
        let named = named(groups, machines, 6, |_, s| t4(s));
        assert!(named.iter().sum::<usize>() <= 6, "{groups} of {machines}: {named:?}");
    }
}

#[test]
fn skewed_noise_of_a_small_fleet_names_few() {
    let exponential = named(5, 20, 4, |_, s| -s.even().ln());
    let lognormal = named(5, 20, 4, |_, s| s.normal().exp());
    // Normal tails name 27 to 41 of the hundred.
    for named in [exponential, lognormal] {
        assert!(named.iter().sum::<usize>() <= 20, "{named:?}");
    }
}

#[test]
fn ordinary_machines_of_one_wide_small_group_are_not_named() {
    for (groups, machines) in [(20, 5), (12, 8)] {
        let named = named(groups, machines, 6, |group, s| {
            s.normal() * if group == 3 { 5.0 } else { 1.0 }
        });
        assert!(named.iter().sum::<usize>() <= 2, "{groups} of {machines}: {named:?}");
    }
}

#[test]
fn a_small_step_of_equal_figures_is_no_outlier_and_a_large_one_is() {
    let made = |of: usize, log: f64| {
        let step = |machine: usize| if machine.is_multiple_of(of) { log } else { 0.0 };
        report_of(300, 1, |machine, _, runs| runs.fill(3.0 + step(machine)))
            .outliers
            .len()
    };
    assert_eq!(made(10, 0.016), 0);
    assert_eq!(made(299, 0.016), 0);
    assert_eq!(made(299, 0.1), 2);
}

#[test]
fn a_machine_slow_in_every_run_is_named_though_its_runs_disagree() {
    let report = report_of(60, 1, |machine, _, runs| {
        if machine == 5 {
            runs.copy_from_slice(&[1.5_f64, 1.9, 2.6].map(|times| 3.0 + times.ln()));
        }
    });
    assert_eq!(report.outliers.len(), 1, "{:?}", report.outliers);
    assert_says!(report.outliers[0].sentence, "in 3 of 3 runs, its runs disagree");
}

#[test]
fn ordinary_machines_of_a_few_are_not_called_unsteady() {
    for (machines, runs) in [(8, 2), (20, 3)] {
        let noted = (0..20).filter(|&seed| {
            let made = Made {
                groups: 1,
                machines,
                runs,
                seed,
                ..MADE
            };
            let notes = report(made.members(as_made)).notes;
            notes.iter().any(|note| note.contains("unsteady"))
        });
        let noted = noted.count();
        assert!(noted <= 1, "{machines} machines of {runs} runs: {noted} of 20 fleets");
    }
}

/// Notes about machines that lie together, where every `of`-th is at `times` the others, and the names of outliers.
fn together(groups: usize, machines: usize, of: usize, times: f64) -> (Vec<String>, usize) {
    let slow = move |_: usize, machine: usize, _: usize, runs: &mut Vec<f64>| {
        if machine.is_multiple_of(of) {
            shift(runs, times);
        }
    };
    let made = Made {
        groups,
        machines,
        rows: 1,
        ..MADE
    };
    let report = report(made.members(slow));
    (report.notes, report.outliers.len())
}

#[test]
fn machines_that_lie_together_are_said_once_with_their_names() {
    for (groups, machines, of, times, said) in [
        (1, 36, 9, 1.15, "4 of 36 machines of group A lie at 1.1"),
        (3, 36, 9, 1.2, "4 of 36 machines of group C lie at "),
        (1, 150, 12, 1.3, "13 of 150 machines of group A lie at 1."),
    ] {
        let (notes, outliers) = together(groups, machines, of, times);
        let note = notes
            .iter()
            .find(|note| note.contains(said))
            .unwrap_or_else(|| panic!("{said}: {notes:?}"));
        assert_says!(note, &format!("-00000, n{}-000{of:02}, ", groups - 1));
        assert_eq!(note.contains("not tested in this row"), machines == 36, "{note}");
        assert!(outliers <= 1, "{notes:?}: {outliers}");
    }
    let (notes, _) = together(1, 150, 12, 1.0);
    assert!(!notes.iter().any(|note| note.contains("times the others")), "{notes:?}");
}
