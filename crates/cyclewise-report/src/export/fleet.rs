//! A fleet's report in words, the same in every output.

use super::number::{NONE, brief, count, counted, decimals, fixed, percent, significant, uncertainty};
use crate::record::bounds;
use crate::record::fleet::ProblemKind;
use crate::record::fleet_report::{Component, Feature, FleetReport, Group, GroupSpread, RowSpread, Verified};
use std::collections::BTreeSet;

/// A fact that all machines share is listed up to this many characters.
const SHORT_FACT: usize = 60;

/// Text from a file without the characters that control a terminal.
pub(super) fn one_line(text: &str) -> String {
    text.replace(crate::error::is_control, " ")
}

/// How many machines, groups, records, runs and problems.
pub(super) fn totals(report: &FleetReport) -> String {
    let machines = counted(report.machines.len(), "machine");
    let groups = counted(report.groups.len(), "group");
    format!("{machines} in {groups}, of {}", measured(report))
}

/// How many records, runs and problems.
pub(super) fn measured(report: &FleetReport) -> String {
    let runs = report.machines.iter().map(|m| m.runs).sum::<usize>();
    let problems = match report.problems.len() {
        0 => "no problems".to_owned(),
        n => counted(n, "problem"),
    };
    format!(
        "{} with {}; {problems}",
        counted(report.records, "record"),
        counted(runs, "run")
    )
}

/// The short facts that are the same in all groups.
pub(super) fn in_common(groups: &[Group]) -> Vec<(String, String)> {
    let Some((first, others)) = groups.split_first() else {
        return Vec::new();
    };
    let shared = |fact: &&(String, String)| {
        !fact.1.is_empty() && fact.1.chars().count() <= SHORT_FACT && others.iter().all(|g| g.facts.contains(fact))
    };
    let facts = first.facts.iter().filter(shared);
    facts.map(|(name, value)| (one_line(name), one_line(value))).collect()
}

/// The names of the facts in which groups differ, in their order.
pub(super) fn differing(groups: &[Group]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in groups.iter().flat_map(|g| &g.facts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let value = |g: &'_ Group, name: &str| fact(g, name).map(str::to_owned);
    names.retain(|name| {
        groups
            .windows(2)
            .any(|pair| value(&pair[0], name) != value(&pair[1], name))
    });
    names
}

pub(super) fn fact<'g>(group: &'g Group, name: &str) -> Option<&'g str> {
    let found = group.facts.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// `lock-prefix/lock-inc64`.
pub(super) fn row_name(row: &RowSpread) -> String {
    one_line(&format!("{}/{}", row.experiment, row.variant))
}

/// A component in per cent with its interval: `1.2 [1.0–1.5]`.
pub(super) fn shares(component: Option<Component>) -> String {
    let Some(Component { sd, ci95 }) = component else {
        return NONE.to_owned();
    };
    let share = |x: f64| significant(100.0 * x, 2);
    match ci95 {
        [None, None] => share(sd),
        [Some(low), Some(high)] => format!("{} [{}–{}]", share(sd), share(low), share(high)),
        [Some(low), None] => format!("{} [≥ {}]", share(sd), share(low)),
        [None, Some(high)] => format!("{} [≤ {}]", share(sd), share(high)),
    }
}

/// The medians of the groups, the least and the greatest, each with the digits that it supports.
pub(super) fn medians(row: &RowSpread) -> String {
    let by_median = |a: &&GroupSpread, b: &&GroupSpread| a.median.total_cmp(&b.median);
    let groups = || row.groups.iter().filter(|g| g.median.is_finite());
    let [Some(least), Some(most)] = [groups().min_by(by_median), groups().max_by(by_median)] else {
        return NONE.to_owned();
    };
    let digits = [least, most].map(|g| decimals(g.median, uncertainty(g.median, bounds(g.ci95))));
    let coarser = digits[0].min(digits[1]);
    let unit = row.unit.as_str();
    match [least, most].map(|g| fixed(g.median, coarser)) {
        // With the digits that both support they are one.
        [least, most] if least == most => format!("{least} {unit}"),
        _ => format!(
            "{}–{} {unit}",
            brief(least.median, bounds(least.ci95)),
            brief(most.median, bounds(most.ci95))
        ),
    }
}

/// What outliers were looked for in, and how many there are.
pub(super) fn searched(report: &FleetReport) -> String {
    let search = &report.search;
    let untested = match search.untested_machines {
        0 => String::new(),
        1 => "; one machine is in a group too small to test".to_owned(),
        n => format!("; {} machines are in groups too small to test", count(n)),
    };
    if search.tests == 0 {
        return format!("no outliers were looked for{untested}");
    }
    let found = match report.unlike.len() {
        0 => "no outlier".to_owned(),
        n => counted(n, "outlier"),
    };
    let together = match search.together {
        0 => String::new(),
        n => format!(" and {} of machines in all rows together", count(n)),
    };
    format!(
        "{found} in {} of machines in headline rows{together}, at a false discovery rate of {}{untested}",
        counted(search.tests, "test"),
        percent(search.rate)
    )
}

/// The sentences on the pairs of groups that were compared, those with a difference first.
pub(super) fn differences(report: &FleetReport) -> impl Iterator<Item = &str> {
    let differ = report.pairs.iter().filter(|pair| pair.differ > 0);
    let others = report.pairs.iter().filter(|pair| pair.differ == 0);
    differ.chain(others).map(|pair| pair.sentence.as_str())
}

/// A line on each part whose promises were verified, then one on each promise that broke.
pub(super) fn promises(report: &FleetReport) -> Vec<String> {
    let part = |v: &Verified| {
        let of = counted(v.nodes, "node");
        let not_shown = match v.not_shown.as_slice() {
            [] => String::new(),
            [first, ..] => format!(
                "; {} not shown after too few tries, for example {} on {}",
                counted(v.not_shown.len(), "promise"),
                first.name,
                first.node
            ),
        };
        match v.broken.as_slice() {
            [] => format!("verify {}: no promise broke on {of}{not_shown}", v.what),
            broken => {
                let nodes: BTreeSet<&str> = broken.iter().map(|seen| seen.node.as_str()).collect();
                format!(
                    "verify {}: promises broke on {} of {of}{not_shown}",
                    v.what,
                    count(nodes.len())
                )
            }
        }
    };
    let broken = report.verified.iter().flat_map(|v| {
        v.broken
            .iter()
            .map(move |seen| format!("{}: {} {}: {}; {}", seen.node, v.what, seen.name, seen.seen, seen.file))
    });
    report.verified.iter().map(part).chain(broken).collect()
}

/// The status that all nodes have.
pub(super) fn one_of(feature: &Feature) -> &str {
    feature.counts.first().map_or("unknown", |(status, _)| status)
}

/// A problem's kind, as in the JSON.
pub(super) fn kind(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Missing => "missing",
        ProblemKind::Torn => "torn",
        ProblemKind::Version => "version",
        ProblemKind::Duplicate => "duplicate",
        ProblemKind::Foreign => "foreign",
        ProblemKind::Mangled => "mangled",
    }
}
