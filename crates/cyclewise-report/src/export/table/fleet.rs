//! The report on many machines: totals, groups, spread, outliers, differences, features, problems.

use super::grid::{BOLD, Column, DIM, Look, YELLOW, fitted, green, red, wrapped};
use crate::export::fleet::{
    differences, in_common, kind, medians, one_line, one_of, promises, row_name, searched, shares, totals,
};
use crate::export::number::count;
use crate::record::fleet::Problem;
use crate::record::fleet_report::{Feature, FleetReport, Group, RowSpread};
use std::fmt::Write;

/// Lines of problems, of outliers and of differences.
const MOST_LINES: usize = 20;
const MOST_GROUPS: usize = 30;
/// Nodes that are named beside a feature.
const MOST_NODES: usize = 5;

pub fn fleet(report: &FleetReport, look: Look) -> String {
    let mut out = format!("{}\n", wrapped(&totals(report), look, 0, 2));
    out.push_str(&groups(report, look));
    out.push_str(&spreads(report, look));
    out.push_str(&outliers(report, look));
    out.push_str(&listed(
        "Promises, by verify",
        promises(report).iter().map(|line| one_line(line)),
        look,
    ));
    out.push_str(&listed(
        "Differences between groups",
        differences(report).map(one_line),
        look,
    ));
    out.push_str(&features(report, look));
    out.push_str(&problems(&report.problems, look));
    if !report.notes.is_empty() {
        out.push('\n');
    }
    for note in &report.notes {
        let _ = writeln!(out, "{DIM}note:{DIM:#} {}", wrapped(&one_line(note), look, 6, 4));
    }
    out
}

/// The groups, and what all of them have in common.
fn groups(report: &FleetReport, look: Look) -> String {
    let mut out = format!("\n{BOLD}Groups{BOLD:#}\n");
    let common = in_common(&report.groups);
    if !common.is_empty() {
        let facts: Vec<String> = common.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let _ = writeln!(out, "{}", wrapped(&format!("all: {}", facts.join(", ")), look, 0, 4));
    }
    if report.groups.len() > 1 {
        let shown = &report.groups[..report.groups.len().min(MOST_GROUPS)];
        let column = |title, cell: &dyn Fn(&Group) -> String| Column::new(title, 0, shown.iter().map(cell));
        let columns = vec![
            column("group", &|g| g.name.clone()),
            column("machines", &|g| count(g.machines)),
            Column::text("what it is", shown.iter().map(|g| one_line(&g.label))),
        ];
        let _ = writeln!(out, "{}", fitted(columns, look));
        out.push_str(&more(report.groups.len() - shown.len(), "groups"));
    }
    out
}

/// The headline rows: medians of the groups, and where the spread comes from.
fn spreads(report: &FleetReport, look: Look) -> String {
    let rows: Vec<&RowSpread> = report.rows.iter().filter(|r| r.headline).collect();
    if rows.is_empty() {
        return String::new();
    }
    let column =
        |title, rank, cell: &dyn Fn(&RowSpread) -> String| Column::new(title, rank, rows.iter().map(|r| cell(r)));
    let mut columns = vec![
        column("row", 0, &row_name),
        column("machines", 3, &|r| count(r.machines)),
        column("medians", 1, &medians),
        column("groups, %", 0, &|r| {
            shares(r.components.as_ref().and_then(|c| c.between_groups))
        }),
        column("machines, %", 0, &|r| {
            shares(r.components.as_ref().and_then(|c| c.between_machines))
        }),
        column("runs, %", 2, &|r| {
            shares(r.components.as_ref().and_then(|c| c.between_runs))
        }),
    ];
    if !rows.iter().any(|r| r.groups.len() > 1) {
        columns.remove(3);
    }
    // Columns may be left out for want of room, so it names none.
    let about = "Columns in %: the spread between what they name, as the standard deviation of the logarithm, with 95 % intervals.";
    let mut out = format!("\n{BOLD}Headline rows{BOLD:#}\n{}\n", wrapped(about, look, 0, 2));
    let _ = writeln!(out, "{}", fitted(columns, look));
    out
}

fn outliers(report: &FleetReport, look: Look) -> String {
    let mut out = format!("\n{BOLD}Outliers{BOLD:#}\n{}\n", wrapped(&searched(report), look, 0, 2));
    for machine in report.unlike.iter().take(MOST_LINES) {
        let line = wrapped(&one_line(&machine.sentence), look, 2, 4);
        let (style, sign) = match machine.slower {
            true => (red(), "▼"),
            false => (green(), "▲"),
        };
        let _ = writeln!(out, "{style}{sign}{style:#} {line}");
    }
    out.push_str(&more(report.unlike.len().saturating_sub(MOST_LINES), "outliers"));
    out
}

/// A heading and its lines, if there are any.
fn listed(title: &str, lines: impl Iterator<Item = String>, look: Look) -> String {
    let lines: Vec<String> = lines.collect();
    let mut out = String::new();
    if lines.is_empty() {
        return out;
    }
    let _ = writeln!(out, "\n{BOLD}{title}{BOLD:#}");
    for line in lines.iter().take(MOST_LINES) {
        let _ = writeln!(out, "{}", wrapped(line, look, 0, 2));
    }
    out.push_str(&more(lines.len().saturating_sub(MOST_LINES), "lines"));
    out
}

/// What the doctors found, the features that nodes lack first.
fn features(report: &FleetReport, look: Look) -> String {
    let (same, differ): (Vec<&Feature>, Vec<&Feature>) = report.features.iter().partition(|f| f.unlike.is_empty());
    let mut lines: Vec<String> = differ.iter().map(|f| feature(f)).collect();
    if !same.is_empty() {
        let all: Vec<String> = same.iter().map(|f| format!("{} {}", f.name, one_of(f))).collect();
        lines.push(one_line(&format!("the same on all nodes: {}", all.join(", "))));
    }
    listed("Features, by the nodes' doctors", lines.into_iter(), look)
}

fn feature(f: &Feature) -> String {
    let counts: Vec<String> = f
        .counts
        .iter()
        .map(|(status, n)| format!("{} {status}", count(*n)))
        .collect();
    let mut nodes: Vec<String> = f
        .unlike
        .iter()
        .take(MOST_NODES)
        .map(|(node, status, value)| format!("{node} {status} ({value})"))
        .collect();
    if f.unlike.len() > MOST_NODES {
        nodes.push("…".to_owned());
    }
    one_line(&format!("{}: {}; {}", f.name, counts.join(", "), nodes.join(", ")))
}

/// Files that were left out, and what is missing.
fn problems(problems: &[Problem], look: Look) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{BOLD}Problems{BOLD:#}: {}\n", count(problems.len()));
    for p in problems.iter().take(MOST_LINES) {
        let line = one_line(&format!("{}: {}", p.name, p.why));
        let kind = kind(p.kind);
        let line = wrapped(&line, look, kind.chars().count() + 2, 4);
        let _ = writeln!(out, "{YELLOW}{kind}:{YELLOW:#} {line}");
    }
    out.push_str(&more(problems.len().saturating_sub(MOST_LINES), "problems"));
    out
}

/// The line that says what is not listed.
fn more(n: usize, what: &str) -> String {
    match n {
        0 => String::new(),
        n => format!("and {} more {what}, in --json\n", count(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::table::grid::shown_width;
    use crate::fleet::made_up::outputs;

    fn plain(report: &FleetReport, columns: u16) -> String {
        let text = fleet(report, Look::new(Some(columns), false));
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn the_table_as_people_read_it() {
        insta::assert_snapshot!("fleet_at_100", plain(&outputs::report(60), 100));
        insta::assert_snapshot!("fleet_at_60", plain(&outputs::report(60), 60));
    }

    #[test]
    fn no_line_is_longer_than_the_terminal_and_long_lists_are_cut() {
        let mut report = outputs::report(60);
        report.problems = vec![report.problems[0].clone(); 1000];
        report.unlike = vec![report.unlike[0].clone(); 50];
        report.groups = vec![report.groups[0].clone(); 500];
        for columns in [60, 80, 100] {
            let text = plain(&report, columns);
            assert!(text.lines().all(|l| shown_width(l) <= columns.into()), "{text}");
            assert_says!(
                text,
                "and 980 more problems",
                "and 30 more outliers",
                "and 470 more groups"
            );
            assert!(text.lines().count() < 200, "{text}");
        }
    }

    #[test]
    fn a_faster_outlier_has_the_sign_of_what_is_faster() {
        let mut report = outputs::report(60);
        let mut fast = report.unlike[0].clone();
        fast.slower = false;
        report.unlike.push(fast);
        let text = plain(&report, 100);
        assert_eq!((text.matches('▲').count(), text.matches('▼').count()), (1, 1), "{text}");
    }

    #[test]
    fn text_from_files_does_not_control_the_terminal() {
        let mut report = outputs::report(60);
        let evil = "a\u{1b}[2Jb\nc\u{7}".to_owned();
        report.problems[0].why.clone_from(&evil);
        report.problems[0].name.clone_from(&evil);
        report.unlike[0].sentence.clone_from(&evil);
        report.pairs[0].sentence.clone_from(&evil);
        report.notes.push(evil.clone());
        report.groups[0].label.clone_from(&evil);
        report.groups[0].facts[0].1.clone_from(&evil);
        report.features[0].unlike[0].2.clone_from(&evil);
        report.features[1].name.clone_from(&evil);
        report.rows[0].variant.clone_from(&evil);
        let text = fleet(&report, Look::new(Some(100), false));
        assert!(!text.contains('\u{7}'), "{text:?}");
        assert_lacks!(text, "[2Jb\n", "\u{1b}[2J");
        assert!(text.contains("a [2Jb c"), "what was there is still said: {text}");
    }

    #[test]
    fn one_machine_and_none_have_a_table() {
        for report in [FleetReport::default(), {
            let mut one = outputs::report(60);
            one.machines.truncate(1);
            one.groups.truncate(1);
            one.rows.iter_mut().for_each(|r| {
                r.groups.truncate(1);
                r.components = None;
            });
            one.unlike.clear();
            one.search.tests = 0;
            one
        }] {
            let text = plain(&report, 100);
            assert_says!(text, "no outliers were looked for");
            assert_lacks!(text, "NaN");
        }
    }
}
