//! The fit, and what it says of rows that it did not see.
//!
//! For each fold, everything is done again without it, also the choice of laws, and the machine that results predicts the fold's rows.
//! Only so is the error that of a prediction: laws chosen with a row in view are partly chosen for it.

use super::candidates::{self, Family, shows_the_arbiter, shows_the_store_buffer};
use super::folds::{folds, others};
use super::measured::{Fit, FittedRow, Law, MeasuredRow};
use super::search::{Score, choose, kinds_as_good};
use super::table::{SCALES, Table, Tried};
use crate::Machine;
use crate::machine::{HeldOut, Latency};

/// Fits `base` to the rows.
pub(super) fn fit(base: &Machine, rows: &[MeasuredRow]) -> Fit {
    let mut table = Table::new(base, rows, candidates::all(base, rows));
    let all: Vec<usize> = (0..rows.len()).collect();
    let chosen = choose(&mut table, &all);
    let mut held_out: Vec<Option<f64>> = vec![None; rows.len()];
    for fold in folds(rows, &all) {
        let learned = others(rows, &all, &fold);
        // Without another row nothing can be learned.
        if !learned.is_empty() {
            let without = choose(&mut table, &learned).tried;
            for row in fold {
                held_out[row] = Some(table.predicted(without, row));
            }
        }
    }
    let fitted: Vec<FittedRow> = all
        .iter()
        .map(|&row| {
            let simulated_ns = table.predicted(chosen.tried, row);
            // No value is fitted to a lock's row of one thread, so the machine predicts it.
            let is_predicted = rows[row].threads == 1 && !rows[row].gives_a_cost();
            FittedRow {
                row: rows[row],
                simulated_ns,
                held_out_ns: if is_predicted {
                    Some(simulated_ns)
                } else {
                    held_out[row]
                },
            }
        })
        .collect();
    Fit {
        machine: machine(&table, chosen.tried, &fitted),
        laws: laws(chosen.family, &chosen.scores, rows, base.line.ll_hold.is_some()),
        rows: fitted,
        scale: SCALES[chosen.tried.1],
        simulated: table.jobs(),
    }
}

/// The machine file's machine.
fn machine(table: &Table<'_>, tried: Tried, rows: &[FittedRow]) -> Machine {
    let mut machine = table.machine(tried);
    let laws = [
        "line.arbiter",
        "line.hold",
        "line.probe_share",
        "line.queue",
        "mechanism.store_buffer",
        "cost.alu_cycles",
    ];
    let mut fitted: Vec<String> = laws.map(str::to_owned).to_vec();
    if machine.line.ll_hold.is_some() {
        fitted.push("line.rmw".to_owned());
    }
    // The first scale leaves them as measured.
    if tried.1 > 0 {
        fitted.extend(scaled_names(&machine.latency));
    }
    fitted.push("cost.jitter".to_owned());
    machine.fitted = fitted;
    let predicted = rows.iter().filter_map(|row| Some((row.row, row.held_out_ns?)));
    machine.held_out = predicted
        .map(|(row, ns)| HeldOut::of(&row.job(), row.ns_per_op, ns))
        .collect();
    machine
}

/// The laws with their alternatives.
///
/// Without far atomics there is no question where they are executed.
fn laws(taken: Family, scores: &[Score], rows: &[MeasuredRow], has_far: bool) -> Vec<Law> {
    let law = |(key, kind): (&'static str, &'static str)| {
        let mut as_well = kinds_as_good(scores, key);
        // Without such a row not even the list of candidates has the others.
        if key == "line.arbiter" && !rows.iter().any(shows_the_arbiter) {
            as_well = vec!["fifo", "random", "nearest"];
        }
        if key == "mechanism.store_buffer" && !rows.iter().any(shows_the_store_buffer) {
            as_well = vec!["none"];
        }
        as_well.retain(|other| *other != kind);
        Law {
            key,
            taken: kind,
            as_well,
        }
    };
    let is_asked = |(key, _): &(&str, &str)| *key != "line.rmw" || has_far;
    taken.kinds().into_iter().filter(is_asked).map(law).collect()
}

/// The names of the given latencies that are scaled.
fn scaled_names(latency: &Latency) -> Vec<String> {
    let classes = [
        ("latency.cluster_ns", latency.cluster_ns),
        ("latency.socket_ns", latency.socket_ns),
        ("latency.remote_ns", latency.remote_ns),
    ];
    classes
        .iter()
        .filter(|(_, ns)| ns.is_some())
        .map(|(name, _)| (*name).to_owned())
        .collect()
}
