//! Fleets of few machines, of odd figures and of contradicting records.

use super::*;
use crate::record::fleet::ProblemKind;

fn members(groups: usize, machines: usize) -> Vec<Member> {
    Made {
        groups,
        machines,
        ..MADE
    }
    .members(as_made)
}

#[test]
fn nothing_one_machine_and_two_machines_say_what_they_can() {
    let none = report(Vec::new());
    assert!(none.machines.is_empty() && none.rows.is_empty() && none.groups.is_empty());
    let one = report(members(1, 1));
    assert_eq!((one.machines.len(), one.groups.len(), one.rows.len()), (1, 1, 4));
    assert!(
        one.rows
            .iter()
            .all(|row| row.components.is_none() && row.groups[0].spread.is_none())
    );
    assert_eq!((one.search.tests, one.search.untested_machines), (0, 1));
    let two = report(members(2, 1));
    assert!(two.outliers.is_empty() && two.differences.is_empty() && two.pairs.is_empty());
    assert_noted(
        &two,
        &["2 groups of fewer than 3 machines that have a headline row (A, B) cannot be compared"],
    );
    let between = two.rows[0].components.as_ref().unwrap();
    assert!(
        between.between_groups.is_none() && between.between_runs.is_some(),
        "{between:?}"
    );
    assert_noted(&two, &["no group has two machines: "]);
    assert_eq!(two.search.untested_machines, 2);
}

#[test]
fn the_report_does_not_depend_on_the_order_of_the_records() {
    let members = Made { machines: 12, ..MADE }.members(as_made);
    let first = report(members.clone());
    let mut turned = members.clone();
    turned.reverse();
    assert_eq!(format!("{:?}", report(turned)), format!("{first:?}"));
    let mut halves = members;
    halves.rotate_left(7);
    assert_eq!(format!("{:?}", report(halves)), format!("{first:?}"));
}

#[test]
fn records_of_one_node_are_its_runs_and_a_changed_node_is_two_machines() {
    let mut members = members(1, 3);
    let mut again = members[0].clone();
    again.file = "again.json".to_owned();
    let mut changed = members[1].clone();
    changed.machine.kernel = "6.19".to_owned();
    members.extend([again, changed]);
    let report = report(members);
    assert_eq!(report.records, 5);
    let names: Vec<&str> = report.machines.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "n0-00000",
            "n0-00001 (kernel 6.19)",
            "n0-00001 (kernel unknown)",
            "n0-00002"
        ]
    );
    assert_eq!((report.machines[0].runs, report.machines[0].files.len()), (6, 2));
    assert_eq!(report.rows[0].values[0].runs, 6);
    assert_noted(&report, &["1 node changed"]);
}

#[test]
fn ticks_without_a_rate_are_a_problem_and_figures_that_are_no_cost_are_left_out() {
    let mut members = members(1, 4);
    members[0].machine.tsc_hz = 0.0;
    members[1].rows[0].value = -1.0;
    members[2].rows[0].not_linear = true;
    members[3].rows[0].runs[1] = f64::NAN;
    let report = report(members);
    assert_eq!(report.problems.len(), 1);
    assert_eq!(report.problems[0].kind, ProblemKind::Mangled);
    assert_says!(report.problems[0].why, "tsc_hz is 0");
    assert!(
        report
            .rows
            .iter()
            .all(|row| row.machines == 3 && row.variant != "lock-inc64")
    );
    assert_noted(&report, &["3 figures left out"]);
}

#[test]
fn a_rate_that_no_tick_has_is_none() {
    for (hz, refused) in [(1.0, true), (1e300, true), (2.5e7, false)] {
        let mut members = members(1, 4);
        members[0].machine.tsc_hz = hz;
        let report = report(members);
        assert_eq!(report.problems.len(), usize::from(refused), "{hz}");
        assert_eq!(report.rows[0].machines, 4 - usize::from(refused), "{hz}");
    }
}

#[test]
fn no_two_machines_are_shown_by_one_name() {
    let mut members = members(1, 3);
    members[1].machine.identity.node = members[0].machine.identity.node.clone();
    members[1].machine.kernel = "6.1".to_owned();
    members[2].machine.identity.node = Some("n0-00000 (kernel 6.1)".to_owned());
    let names: Vec<String> = report(members).machines.into_iter().map(|m| m.name).collect();
    assert_eq!(
        names,
        [
            "n0-00000 (kernel 6.1)",
            "n0-00000 (kernel unknown)",
            "n0-00000 (kernel 6.1) #2"
        ]
    );
}

#[test]
fn machines_with_the_same_figure_have_no_outliers_and_a_tick_is_none() {
    let same = |_: usize, machine: usize, _: usize, runs: &mut Vec<f64>| {
        runs.fill(3.0 + if machine == 3 { 2e-4 } else { 0.0 });
    };
    let report = report(Made { rows: 1, ..MADE }.members(same));
    assert!(report.outliers.is_empty(), "{:?}", report.outliers);
    assert!(report.rows[0].range[0] < report.rows[0].range[1]);
}

#[test]
fn an_unknown_fact_and_a_rate_that_is_none_are_refused_in_one_line() {
    let by = |by: &str, fdr: f64| {
        let settings = Settings {
            by: vec![by.to_owned()],
            fdr,
        };
        analyse(Vec::new(), &[], Vec::new(), &settings).unwrap_err().message
    };
    assert_says!(by("microcod", 0.05), "the nearest is `microcode`");
    assert!(!by("\u{1b}[31mzzz\n", 0.05).contains(char::is_control));
    for rate in [0.0, 1.0, f64::NAN, -1.0] {
        assert!(by("kernel", rate).starts_with("--fdr: "), "{rate}");
    }
}

#[test]
fn names_and_facts_of_records_have_no_control_characters() {
    let mut members = members(1, 2);
    members[0].machine.identity.node = Some("a\u{1b}[2Jb".to_owned());
    members[0].machine.kernel = "6\n1".to_owned();
    members[0]
        .machine
        .mitigations
        .insert("spectre\u{1f}v2".to_owned(), "on\r".to_owned());
    let report = report(members);
    let text: String = report
        .groups
        .iter()
        .map(|g| format!("{}{:?}", g.label, g.facts))
        .collect();
    assert_lacks!(text, "\\u{", "\\n", "\\r");
    assert!(!report.machines.iter().any(|m| m.name.contains(char::is_control)));
}
