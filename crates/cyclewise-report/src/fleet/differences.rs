//! What differs between two groups, a sentence each.
//!
//! The machine is the unit: a group of three machines has three figures of a row, however many samples are behind them. Rows are
//! compared by trimmed means of logarithms over machines, of three machines a side at least; the rate of false differences is held over all pairs and headline rows.
//! A difference below [`MARGIN`] is not said, and a row whose whole interval is within it is said to be alike.
//!
//! Of many groups not all pairs are of use: a fleet of 40 has 780. Those that differ in one fact show what that fact does, and
//! each group against the largest shows what is unusual.

use super::columns::Fleet;
use super::group::differing;
use super::row::{RESOLUTION, Row};
use super::words;
use crate::number;
use crate::record::fleet_report::{Difference, Group, Pair};
use crate::stats::{self, Trimmed};

/// Differences below this share do not matter.
pub(super) const MARGIN: f64 = 0.01;

/// Up to this many groups all pairs are compared.
const ALL_PAIRS: usize = 8;

/// The most pairs: what a person reads.
const MOST_PAIRS: usize = 200;

pub(super) struct FoundDifferences {
    pub differences: Vec<Difference>,
    pub pairs: Vec<Pair>,
    pub notes: Vec<String>,
}

/// A row of a pair.
struct Compared {
    pair: usize,
    row: usize,
    apart: stats::Apart,
}

/// Compares the groups in the headline rows of `rows`.
pub(super) fn compare(rows: &[Row], fleet: &Fleet, rate: f64) -> FoundDifferences {
    let headlines: Vec<&Row> = rows.iter().filter(|row| row.spread.headline).collect();
    let means: Vec<Vec<Option<Trimmed>>> = headlines.iter().map(|row| means(row, fleet.groups.len())).collect();
    let usable = |group: usize| means.iter().any(|row| row[group].is_some());
    let (mut pairs, left_out) = pairs(&fleet.groups, usable);
    let mut compared = Vec::new();
    for (pair, Pair { groups: [a, b], .. }) in pairs.iter().enumerate() {
        for (row, means) in means.iter().enumerate() {
            if let (Some(a), Some(b)) = (&means[*a], &means[*b]) {
                let apart = a.against(b);
                compared.push(Compared { pair, row, apart });
            }
        }
    }
    let rates = stats::discovery_rates(&compared.iter().map(|c| c.apart.p).collect::<Vec<_>>());
    let mut differences: Vec<Difference> = Vec::new();
    let mut said: Vec<Vec<(f64, String)>> = vec![Vec::new(); pairs.len()];
    for (c, q) in compared.iter().zip(rates) {
        let (pair, ratio, ci) = (&mut pairs[c.pair], c.apart.difference.exp(), c.apart.ci95.map(f64::exp));
        let row = &headlines[c.row].spread;
        if q <= rate && c.apart.difference.abs() >= MARGIN.ln_1p() {
            pair.differ += 1;
            let text = format!(
                "{} {}{}",
                words::row(&row.experiment, &row.variant),
                words::times_within(ratio, ci),
                words::sense(row.unit, ratio)
            );
            differences.push(Difference {
                groups: pair.groups,
                facts: pair.facts.clone(),
                experiment: row.experiment.clone(),
                variant: row.variant.clone(),
                ratio,
                ci95: ci.map(|bound| Some(bound).filter(|bound| bound.is_finite())),
                q,
                sentence: format!("{}: {text}", title(&fleet.groups, pair)),
            });
            said[c.pair].push((c.apart.difference.abs(), text));
        } else if c.apart.ci95.iter().all(|bound| bound.abs() <= MARGIN.ln_1p()) {
            pair.within += 1;
        } else {
            pair.undecided += 1;
        }
    }
    for (pair, mut rows) in pairs.iter_mut().zip(said) {
        rows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let rows = rows.into_iter().map(|(_, text)| text).collect();
        pair.sentence = format!("{}: {}", title(&fleet.groups, pair), sentence(pair, rows));
    }
    let small: Vec<&str> = fleet
        .groups
        .iter()
        .enumerate()
        .filter(|(i, _)| !usable(*i))
        .map(|(_, g)| g.name.as_str())
        .collect();
    FoundDifferences {
        differences,
        notes: notes(&small, fleet.groups.len(), left_out),
        pairs,
    }
}

/// The trimmed mean of each group's machines.
fn means(row: &Row, groups: usize) -> Vec<Option<Trimmed>> {
    let mut logs: Vec<Vec<f64>> = vec![Vec::new(); groups];
    for (value, fit) in row.spread.values.iter().zip(&row.fit_of) {
        logs[row.fits[*fit].group].push(value.value.ln());
    }
    let mean = |logs: &mut Vec<f64>| {
        logs.sort_unstable_by(f64::total_cmp);
        Trimmed::of_sorted(logs, RESOLUTION)
    };
    logs.iter_mut().map(mean).collect()
}

/// The pairs to compare, those that differ in the fewest facts first; and how many were left out as too many.
fn pairs(groups: &[Group], usable: impl Fn(usize) -> bool) -> (Vec<Pair>, usize) {
    let mut pairs = Vec::new();
    for b in (0..groups.len()).filter(|b| usable(*b)) {
        for a in (0..b).filter(|a| usable(*a)) {
            let facts = differing(&groups[a], &groups[b]);
            if groups.len() <= ALL_PAIRS || a == 0 || facts.len() == 1 {
                pairs.push(Pair {
                    groups: [a, b],
                    facts,
                    ..Pair::default()
                });
            }
        }
    }
    // Groups are in the order of their sizes, so that the pairs of large ones come first.
    pairs.sort_by_key(|pair| (pair.facts.len(), pair.groups));
    let left_out = pairs.len().saturating_sub(MOST_PAIRS);
    pairs.truncate(MOST_PAIRS);
    (pairs, left_out)
}

/// "B (microcode 0xa0011d5) against A (0xa0011d1)", with the fact in which they differ; of several, the groups' labels.
fn title(groups: &[Group], pair: &Pair) -> String {
    let [a, b] = pair.groups.map(|i| &groups[i]);
    let (fact, in_a, in_b) = match pair.facts.as_slice() {
        [fact] => {
            let value = |g: &Group| {
                let found = g.facts.iter().find(|(name, _)| name == fact);
                found.map_or(String::new(), |(_, value)| value.clone())
            };
            (format!("{fact} "), value(a), value(b))
        }
        _ => (String::new(), a.label.clone(), b.label.clone()),
    };
    format!("{} ({fact}{in_b}) against {} ({in_a})", b.name, a.name)
}

fn sentence(pair: &Pair, mut parts: Vec<String>) -> String {
    let other = if parts.is_empty() { "" } else { "other " };
    if pair.within > 0 {
        parts.push(format!(
            "{} within {} %",
            number::counted(pair.within, &format!("{other}row")),
            MARGIN * 100.0
        ));
    }
    if pair.undecided > 0 {
        parts.push(format!("{} undecided", number::counted(pair.undecided, "row")));
    }
    if parts.is_empty() {
        "no row in common".to_owned()
    } else {
        parts.join("; ")
    }
}

fn notes(small: &[&str], groups: usize, left_out: usize) -> Vec<String> {
    let mut notes = Vec::new();
    if groups > 1 && !small.is_empty() {
        let some: Vec<&str> = small.iter().take(10).copied().collect();
        let dots = if small.len() > some.len() { ", …" } else { "" };
        notes.push(format!(
            "{} of fewer than {} machines that have a headline row ({}{dots}) cannot be compared with others: the spread between \
             such few machines is not known",
            number::counted(small.len(), "group"),
            stats::FEWEST_COMPARED,
            some.join(", ")
        ));
    }
    if left_out > 0 {
        notes.push(format!(
            "{} of groups are not compared: the {MOST_PAIRS} that differ in the fewest facts are",
            number::counted(left_out, "pair")
        ));
    }
    notes
}
