//! The terminal's table of limits: one for each machine.

use super::grid::{BOLD, Column, DIM, Look, fitted, wrapped};
use crate::export::limits::{cost, spread, times, times_peer, why_undecided};
use crate::limits::{Limits, OnMachine, PRIMITIVES, PrimitiveCosts};
use std::fmt::Write;

/// All machines; without any, what the limits are.
pub fn limits(limits: &Limits, look: Look) -> String {
    let tables: Vec<String> = match limits.machines.as_slice() {
        [] => vec![definitions(look)],
        machines => machines.iter().map(|machine| on_machine(machine, look)).collect(),
    };
    tables.join("\n")
}

fn on_machine(machine: &OnMachine, look: Look) -> String {
    let mut out = format!("{BOLD}{}{BOLD:#}\n", wrapped(&machine.description, look, 0, 2));
    for record in &machine.records {
        let _ = writeln!(out, "{DIM}record:{DIM:#} {}", wrapped(record, look, 8, 4));
    }
    let cells = |of: fn(&PrimitiveCosts) -> String| machine.primitives.iter().map(of);
    let columns = vec![
        Column::new("primitive", 0, PRIMITIVES.iter().map(|p| p.name.to_owned())),
        Column::new("limit", 0, cells(|f| cost(f.limit.as_ref()))),
        Column::new("ours", 0, cells(|f| cost(f.ours.as_ref()))),
        Column::new("× limit", 0, cells(|f| times(f.to_limit.as_ref()))),
        Column::new("95 %", 0, cells(|f| spread(f.to_limit.as_ref()))),
        Column::new(
            "best peer",
            1,
            cells(|f| times_peer(f.to_peer.as_ref(), f.peer.as_ref())),
        ),
        Column::new("95 %", 2, cells(|f| spread(f.to_peer.as_ref()))),
        Column::new("peer's", 3, cells(|f| cost(f.peer.as_ref()))),
        Column::new(
            "limit's row",
            4,
            cells(|f| f.limit.as_ref().map_or(String::new(), |l| l.row.clone())),
        ),
        Column::new("set by", 5, PRIMITIVES.iter().map(|p| p.set_by.to_owned())),
    ];
    let _ = writeln!(out, "{}", fitted(columns, look));
    for (p, f) in PRIMITIVES.iter().zip(&machine.primitives) {
        let beside = [(&f.to_limit, "its limit"), (&f.to_peer, "the best peer")];
        for (ratio, what) in beside {
            if let Some(why) = why_undecided(ratio.as_ref()) {
                let line = format!("{}, against {what}: undecided: {why}", p.name);
                let _ = writeln!(out, "{}", wrapped(&line, look, 0, 2));
            }
        }
    }
    let words = "Figures are ticks unless they say otherwise. \"not paired\": the two rows are of different experiments, or of several \
                 runs without a comparison, so that the ratio has no interval. A range: the row is not linear, so it has no one cost; \
                 these are its least and greatest by the loop around it, what it adds among other instructions, and ratios and a \
                 verdict over loops of the same lengths. \"not a cost\": it is not positive, or of two lengths and above the same with LOCK.";
    let _ = writeln!(out, "{}", wrapped(words, look, 0, 0));
    out
}

fn definitions(look: Look) -> String {
    let columns = vec![
        Column::new("primitive", 0, PRIMITIVES.iter().map(|p| p.name.to_owned())),
        Column::text("limit is set by", PRIMITIVES.iter().map(|p| p.set_by.to_owned())),
    ];
    let how = "Give records for figures: `cyclewise run --json R.json`, then `cyclewise limits R.json`.";
    format!("{}\n{}\n", fitted(columns, look), wrapped(how, look, 0, 2))
}
