//! The data of the phase diagram page's template.

use super::machine::{Fact, facts, tool};
use super::page::STYLE;
use super::plot::{Heat, Plot, SERIES};
use super::table::{Table, number, words};
use crate::error::Result;
use crate::number::{fixed, significant};

use crate::simulate::band;
use crate::simulate::phase::Phase;
use askama::Template;
use cyclewise_sim::phase::Cell;

/// A phase diagram.
#[derive(Template)]
#[template(path = "phase.html")]
pub(super) struct PhasePage {
    title: String,
    style: &'static str,
    series: usize,
    about: String,
    own: String,
    facts: Vec<Fact>,
    plots: Vec<Plot>,
    table: Table,
}

impl PhasePage {
    /// The page of `phase`.
    pub(super) fn new(phase: &Phase) -> Result<Self> {
        let job = &phase.job;
        let facts = facts([
            ("Workload", job.workload.name().to_owned()),
            ("Threads", job.threads.to_string()),
            ("Placement", job.placement.name().to_owned()),
            ("Seed", job.seed.to_string()),
            (
                "Own laws may be off by",
                band::sentence(&phase.machine, std::iter::once(job.workload)),
            ),
            ("Written by", tool(&phase.tool)),
        ]);
        let plots = [
            heat(
                phase,
                "Retries per success",
                "retries",
                |c| c.retries_per_success,
                "At one retry or less, the second attempt nearly always succeeds. With a short hold and a fair order, nearly every success of \
                 another thread costs a retry.",
            )?,
            heat(
                phase,
                "Fairness",
                "Jain's index",
                |c| c.jain,
                "1 means that every thread did the same number of operations.",
            )?,
            heat(
                phase,
                "Time per operation",
                "ns/op",
                |c| c.ns_per_op,
                "All threads together.",
            )?,
        ];
        Ok(PhasePage {
            title: format!("{} with {} threads, simulated", job.workload, job.threads),
            style: STYLE,
            series: SERIES,
            about: phase.machine.about.clone(),
            own: phase.own_laws(),
            facts,
            plots: plots.into_iter().flatten().collect(),
            table: table(phase),
        })
    }
}

fn heat(phase: &Phase, name: &str, unit: &str, of: fn(&Cell) -> f64, caption: &str) -> Result<Option<Plot>> {
    let first = phase.cells.first().map(Vec::as_slice).unwrap_or_default();
    // The axis goes up: fair is at the bottom.
    let rows = || phase.cells.iter().rev();
    Heat {
        name,
        unit,
        axes: ["requests that may overtake the oldest", "hold, in transfer times"],
        rows: rows().filter_map(|row| Some(row.first()?.overtakes.to_string())).collect(),
        columns: first.iter().map(|c| fixed(c.hold, 2)).collect(),
        cells: rows().flatten().map(|c| Some(of(c))).collect(),
        caption: format!(
            "{name}, {unit}. Horizontal: hold after an exclusive fill, in transfer times. Vertical: how many requests in a row may overtake the \
             oldest. {caption}"
        ),
    }
    .draw()
}

fn table(phase: &Phase) -> Table {
    let mut table = Table::new("Every cell");
    table.words("Hold, in transfers");
    table.numbers("Hold", "cycles");
    table.numbers("May overtake", "requests");
    table.numbers("Retries", "per success");
    table.numbers("Jain", "index");
    table.numbers("All threads", "ns/op");
    for c in phase.cells.iter().flatten() {
        table.rows.push(vec![
            words(fixed(c.hold, 2)),
            number(c.hold_cycles.to_string()),
            number(c.overtakes.to_string()),
            number(significant(c.retries_per_success, 3)),
            number(fixed(c.jain, 3)),
            number(significant(c.ns_per_op, 3)),
        ]);
    }
    table
}
