//! The page of a phase diagram, as its template sees it.

use super::machine::{Fact, tool};
use super::number::{fixed, significant};
use super::page::STYLE;
use super::plot::{Heat, Plot, SERIES};
use super::table::{Table, number, words};
use crate::error::Result;
use crate::simulate::lists::placement_name;
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
        let facts = [
            ("Workload", job.workload.name().to_owned()),
            ("Threads", job.threads.to_string()),
            ("Placement", placement_name(job.placement).to_owned()),
            ("Seed", job.seed.to_string()),
            ("Written by", tool(&phase.tool)),
        ];
        let plots = [
            heat(
                phase,
                "Retries for each success",
                "retries",
                |c| c.retries_per_success,
                "Where there is one retry or less, a second attempt always succeeds; where the hold is short and the order fair, nearly \
                 every other thread's success costs a retry.",
            )?,
            heat(
                phase,
                "Fairness",
                "Jain's index",
                |c| c.jain,
                "1 where every thread did the same.",
            )?,
            heat(
                phase,
                "Time for each operation",
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
            own: phase.own_place(),
            facts: facts.into_iter().map(|(term, text)| Fact { term, text }).collect(),
            plots: plots.into_iter().flatten().collect(),
            table: table(phase),
        })
    }
}

fn heat(phase: &Phase, name: &str, unit: &str, of: fn(&Cell) -> f64, caption: &str) -> Result<Option<Plot>> {
    let first = phase.cells.first().map(Vec::as_slice).unwrap_or_default();
    // Fair at the bottom, as a diagram's axis goes up.
    let rows = || phase.cells.iter().rev();
    Heat {
        name,
        unit,
        axes: ["requests that may overtake the oldest", "hold by transfer time"],
        rows: rows().filter_map(|row| Some(row.first()?.overtakes.to_string())).collect(),
        columns: first.iter().map(|c| fixed(c.hold, 2)).collect(),
        cells: rows().flatten().map(|c| Some(of(c))).collect(),
        caption: format!(
            "{name}, {unit}. Across: hold after an exclusive fill, in transfers; up: how many requests in a row may overtake the oldest. {caption}"
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
