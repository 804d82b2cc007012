//! What was recommended, and the margin it rests on.

use super::grid::{BOLD, DIM, coloured, table};
use super::simulation::three;
use crate::record::Verdict;
use crate::simulate::recommend::{Choice, Recommendation, Stake};
use std::fmt::Write;

/// Names of those alike that fit a line.
const ALIKE: usize = 3;

/// A table for each kind of thing.
pub fn recommendation(r: &Recommendation) -> String {
    let mut out = format!(
        "{BOLD}{}{BOLD:#}, {} CPUs  {DIM}{}{DIM:#}\n",
        r.machine.name,
        r.machine.topology.cpus(),
        r.machine.about
    );
    if !r.machine.fitted.is_empty() {
        let _ = writeln!(out, "{DIM}fitted, not measured:{DIM:#} {}", r.machine.fitted.join(", "));
    }
    let mut kinds: Vec<&str> = r.choices.iter().map(|c| c.kind).collect();
    kinds.dedup();
    for kind in kinds {
        let _ = writeln!(out, "\n{BOLD}{kind}{BOLD:#}");
        let rows = r.choices.iter().filter(|c| c.kind == kind).map(row);
        let header = [
            "take", "is", "", "threads", "Mop/s", "Jain", "margin", "95 %", "worst", "alike",
        ];
        let mut grid = table(&header, rows, 3);
        for column in [0, 1, 2, 9] {
            if let Some(column) = grid.column_mut(column) {
                column.set_cell_alignment(comfy_table::CellAlignment::Left);
            }
        }
        let _ = writeln!(out, "{grid}");
        out.push_str(&starving(r.choices.iter().filter(|c| c.kind == kind)));
    }
    let _ = writeln!(
        out,
        "\n{DIM}simulated, seeds {} to {}, {} cycles of work inside, {} between; margin: rate against the next best; differences that the \
         seeds do not show, or below 5 %, are called indistinguishable; of those within 5 % of the best the plainest is taken{DIM:#}",
        r.seeds[0], r.seeds[1], r.critical_cycles, r.parallel_cycles
    );
    out
}

fn row(choice: &Choice) -> Vec<String> {
    let (is, than, margin, interval) = match &choice.next {
        None => (String::new(), String::new(), String::new(), String::new()),
        Some(next) => {
            let than = if next.verdict == Verdict::Indistinguishable {
                "from"
            } else {
                "than"
            };
            let [lo, hi] = next.ratio_ci95;
            (
                coloured(next.verdict),
                format!("{than} {}", next.candidate.name()),
                format!("{:.2}", next.ratio),
                format!("{lo:.2} … {hi:.2}"),
            )
        }
    };
    let worst = |stake: &Stake| format!("{:.1} ({})", stake.ratio, stake.candidate.name());
    vec![
        choice.take.name(),
        is,
        than,
        choice.threads.to_string(),
        three(choice.ops_per_s / 1e6),
        format!("{:.3}", choice.jain),
        margin,
        interval,
        choice.worst.as_ref().map_or_else(String::new, worst),
        alike(choice),
    ]
}

/// Which candidates are left out, on how many threads.
fn starving<'a>(choices: impl Iterator<Item = &'a Choice>) -> String {
    let mut by_name: Vec<(String, Vec<String>)> = Vec::new();
    for choice in choices {
        for candidate in &choice.starving {
            let (name, threads) = (candidate.name(), choice.threads.to_string());
            match by_name.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(threads),
                None => by_name.push((name, vec![threads])),
            }
        }
    }
    let named = by_name
        .iter()
        .map(|(name, threads)| format!("{name} ({})", threads.join(", ")));
    match named.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        all => format!("{DIM}a thread got nothing in a whole run (threads):{DIM:#} {all}\n"),
    }
}

/// The others that would do as well.
fn alike(choice: &Choice) -> String {
    let others: Vec<String> = choice
        .alike
        .iter()
        .filter(|c| **c != choice.take)
        .map(|c| c.name())
        .collect();
    match others.len() {
        n if n > ALIKE => format!("{} and {} more", others[..ALIKE].join(", "), n - ALIKE),
        _ => others.join(", "),
    }
}
