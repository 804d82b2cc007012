//! What is planted is found, and said so.

use super::*;

#[test]
fn a_planted_machine_is_named_with_its_evidence_and_groups_are_told_apart() {
    let made = Made { machines: 40, ..MADE };
    let slow = |group: usize, machine: usize, row: usize, runs: &mut Vec<f64>| {
        if (group, machine) == (1, 17) && row == 0 {
            shift(runs, 1.9);
        }
    };
    let mut members = made.members(slow);
    members[57]
        .machine
        .warnings
        .push("CPU 3 was at 97 % before the run".into());
    members[57].machine.steal_share = Some(0.11);
    let report = report(members);
    assert_eq!(report.outliers.len(), 1, "{:#?}", report.outliers);
    let outlier = &report.outliers[0];
    assert_eq!(report.machines[outlier.machine].name, "n1-00017");
    assert_eq!((outlier.runs_beyond, outlier.runs), (3, 3));
    assert!(
        (outlier.ratio - 1.9).abs() < 0.1 && outlier.sigmas > 20.0 && outlier.q < 1e-6,
        "{outlier:?}"
    );
    assert!(
        outlier.sentence.starts_with("n1-00017: lock-prefix lock-inc64 1."),
        "{}",
        outlier.sentence
    );
    assert_says!(outlier.sentence, "times its group's median in 3 of 3 runs");
    assert_says!(
        outlier.sentence,
        "steal 11\u{a0}%, warning “CPU 3 was at 97 % before the run”"
    );
    assert_eq!((report.search.tests, report.search.untested_machines), (320, 0));
    let labels: Vec<&str> = report.groups.iter().map(|g| g.label.as_str()).collect();
    assert_eq!(labels, ["microcode 0xa000", "microcode 0xa001"]);
}

#[test]
fn components_and_medians_are_those_of_the_fleet() {
    let made = Made {
        groups: 6,
        machines: 60,
        ..MADE
    };
    let report = report(made.members(as_made));
    for row in &report.rows {
        assert_eq!(row.machines, 360);
        let found = row.components.as_ref().unwrap();
        let parts = [found.between_groups, found.between_machines, found.between_runs];
        for (part, truth) in parts.into_iter().zip([0.1, 0.02, 0.01]) {
            let part = part.unwrap();
            let [low, high] = part.ci95.map(Option::unwrap);
            // Three intervals of four rows: one in twenty misses, none by half.
            assert!(
                low * 0.67 < truth && truth < high * 1.5,
                "{} {truth}: {part:?}",
                row.variant
            );
        }
        let spread = row.groups[0].spread.unwrap();
        assert!((spread / made.sigma() - 1.0).abs() < 0.35, "{spread}");
        assert_eq!(row.groups.iter().map(|g| g.bins.iter().sum::<u32>()).sum::<u32>(), 360);
    }
}

#[test]
fn a_difference_between_groups_is_a_sentence() {
    let made = Made {
        machines: 20,
        between_groups: 0.0,
        ..MADE
    };
    let slower = |group: usize, _: usize, row: usize, runs: &mut Vec<f64>| {
        if (group, row) == (1, 1) {
            shift(runs, 0.2_f64.exp());
        }
    };
    let report = report(made.members(slower));
    assert_eq!(report.differences.len(), 1, "{:?}", report.differences);
    assert_eq!(report.differences[0].facts, ["microcode"]);
    let sentence = &report.pairs[0].sentence;
    assert!(
        sentence.starts_with("B (microcode 0xa001) against A (0xa000): null-syscall getppid 1.2"),
        "{sentence}"
    );
    let pair = &report.pairs[0];
    assert_eq!((pair.differ, pair.within + pair.undecided), (1, 3), "{sentence}");
}
