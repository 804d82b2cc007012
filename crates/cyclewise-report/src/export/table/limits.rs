//! The terminal's table of limits: one for each machine.

use super::grid::{BOLD, Column, DIM, Look, fitted, wrapped};
use crate::export::limits::{cost, spread, times, times_peer};
use crate::limits::{Found, Limits, OnMachine, PRIMITIVES};
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
        let _ = writeln!(out, "{DIM}record:{DIM:#} {record}");
    }
    let cells = |of: fn(&Found) -> String| machine.primitives.iter().map(of);
    let columns = vec![
        Column::new("primitive", 0, PRIMITIVES.iter().map(|p| p.name.to_owned())),
        Column::new("limit", 0, cells(|f| cost(f.limit.as_ref()))),
        Column::new("ours", 0, cells(|f| cost(f.ours.as_ref()))),
        Column::new("× limit", 0, cells(|f| times(f.to_limit))),
        Column::new("95 %", 0, cells(|f| spread(f.to_limit))),
        Column::new("best peer", 1, cells(|f| times_peer(f.to_peer, f.peer.as_ref()))),
        Column::new("95 %", 2, cells(|f| spread(f.to_peer))),
        Column::new("peer's", 3, cells(|f| cost(f.peer.as_ref()))),
        Column::new(
            "limit's row",
            4,
            cells(|f| f.limit.as_ref().map_or(String::new(), |l| l.row.clone())),
        ),
        Column::new("set by", 5, PRIMITIVES.iter().map(|p| p.set_by.to_owned())),
    ];
    let _ = writeln!(out, "{}", fitted(columns, look));
    let words = "Figures are ticks unless they say otherwise. \"not paired\": the two rows are of different experiments, or of several \
                 runs without a comparison, so that the ratio has no interval. \"not linear\": the row's slope is no cost. \"not a \
                 cost\": it is not positive, or of two lengths and above the same with LOCK.";
    let _ = writeln!(out, "{}", wrapped(words, look, 0, 0));
    out
}

fn definitions(look: Look) -> String {
    let columns = vec![
        Column::new("primitive", 0, PRIMITIVES.iter().map(|p| p.name.to_owned())),
        Column::text("limit is set by", PRIMITIVES.iter().map(|p| p.set_by.to_owned())),
    ];
    format!(
        "{}\nGive records for figures: `cyclewise run --json R.json`, then `cyclewise limits R.json`.\n",
        fitted(columns, look)
    )
}
