//! The data of one experiment of a record, for the template: verdicts, plots and tables.

use super::plot::{Figure, Heat, Plot, Strip};
use super::table::{Cell, Table, maybe, number, verdict, words};
use super::words::{Finding, Sentence, floor, times};
use crate::error::Result;
use crate::experiment::Published;
use crate::experiment::core_to_core::{Matrix, spans};
use crate::export::listed_variants;
use crate::export::number::{
    NONE, at_least_two_digits, count, decimals, estimate, fixed, half_width, interval, p_value, percent, significant,
};
use crate::record::bounds;
use crate::record::{Experiment, Variant};

/// An experiment of a record.
pub(super) struct ExperimentView<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) question: &'a str,
    pub(super) source: &'a str,
    pub(super) verdicts: Vec<Sentence>,
    pub(super) floor: String,
    pub(super) plot: Plot,
    /// The one-way times between CPUs, if it has them.
    pub(super) matrix: Option<Plot>,
    /// In the order of the page.
    pub(super) tables: Vec<Table>,
    pub(super) notes: &'a [String],
}

impl<'a> ExperimentView<'a> {
    /// The view of `e`; `id` is its anchor, `seed` the record's.
    pub(super) fn new(e: &'a Experiment, id: String, seed: u64, published: &[Published]) -> Result<Self> {
        let control = e.control.as_ref();
        let verdicts = e.comparisons.iter().map(|c| Finding::of(c, e.unit, control).sentence());
        let tables = [
            super::published::table(e, published),
            Some(variants(e)),
            metrics(e),
            comparisons(e),
        ];
        Ok(ExperimentView {
            id,
            name: &e.name,
            question: &e.question,
            source: &e.source,
            verdicts: verdicts.collect(),
            floor: floor(control, e.unit),
            plot: figure(e, seed).draw()?,
            matrix: matrix(e)?,
            tables: tables.into_iter().flatten().collect(),
            notes: &e.notes,
        })
    }
}

fn figure(e: &Experiment, seed: u64) -> Figure<'_> {
    Figure {
        name: &e.name,
        unit: e.unit.as_str(),
        seed,
        strips: listed_variants(e, MOST_PAIRS)
            .into_iter()
            .map(|v| Strip {
                label: v.name.clone(),
                samples: &v.samples,
                mean: v.mean,
                ci95: v.ci95,
                series: 0,
            })
            .collect(),
    }
}

/// With more pairs of CPUs than this, only the matrix shows them.
const MOST_PAIRS: usize = 45;

/// The heat map of the one-way times between CPUs.
fn matrix(e: &Experiment) -> Result<Option<Plot>> {
    let Some(matrix) = Matrix::of(e) else {
        return Ok(None);
    };
    let cpus: Vec<String> = matrix.cpus.iter().map(u32::to_string).collect();
    let side = cpus.len();
    let by_distance: Vec<String> = spans(e)
        .iter()
        .map(|s| {
            let pairs = if s.pairs == 1 { "pair" } else { "pairs" };
            format!(
                "{} {} ns ({} {pairs})",
                s.distance.name(),
                significant(s.median, 3),
                count(s.pairs)
            )
        })
        .collect();
    let mut caption = format!(
        "One-way time from CPU to CPU: the median of each pair, in ns. Medians by distance: {}.",
        by_distance.join(", ")
    );
    if listed_variants(e, MOST_PAIRS).len() < e.variants.len() {
        caption.push_str(" There are too many pairs for strips and rows; the record contains every sample.");
    }
    Heat {
        name: "One-way time between CPUs",
        unit: "ns",
        axes: ["CPU", "CPU"],
        cells: (0..side * side).map(|i| matrix.ns(i / side, i % side)).collect(),
        rows: cpus.clone(),
        columns: cpus,
        caption,
    }
    .draw()
}

/// The variant that is second in every comparison, if there is one.
fn reference(e: &Experiment) -> Option<&Variant> {
    let first = &e.comparisons.first()?.b;
    if e.comparisons.iter().any(|c| c.b != *first) {
        return None;
    }
    e.variants.iter().find(|v| v.name == *first && v.n > 0 && v.mean > 0.0)
}

fn variants(e: &Experiment) -> Table {
    let unit = e.unit.as_str();
    let reference = reference(e);
    let cycles = e.variants.iter().any(|v| v.cycles.is_some());
    let ipc = e
        .variants
        .iter()
        .any(|v| v.cycles.as_ref().is_some_and(|c| c.ipc.is_some()));
    let bytes = e.variants.iter().any(|v| v.code_bytes.is_some());

    let mut table = Table::new(format!("What each variant costs, in {unit}"));
    table.words("Variant");
    table.numbers("n", "kept");
    for title in ["Mean", "SD", "Median", "Min"] {
        table.numbers(title, unit);
    }
    table.numbers("95\u{a0}% CI of mean", unit);
    table.numbers("Rejected", "");
    if let Some(r) = reference {
        table.numbers("Ratio of means", &format!("to {}", r.name));
    }
    if cycles {
        table.numbers("Core cycles", "cycle/op");
    }
    if ipc {
        table.numbers("Instructions", "per op");
        table.numbers("IPC", "");
    }
    if bytes {
        table.numbers("Code", "bytes/op");
    }
    for v in listed_variants(e, MOST_PAIRS) {
        let mut row = vec![words(&v.name), number(count(v.n))];
        row.extend(figures(v));
        row.push(rejected(v));
        if let Some(r) = reference {
            let ratio = if v.n > 0 {
                significant(v.mean / r.mean, 3)
            } else {
                NONE.to_owned()
            };
            row.push(number(ratio));
        }
        let c = v.cycles.as_ref();
        if cycles {
            row.push(maybe(c, |c| estimate(c.per_op, c.ci95)).with_detail(c.map_or("", |c| &c.source)));
        }
        if ipc {
            row.push(maybe(c.and_then(|c| c.instructions), |i| significant(i, 3)));
            row.push(maybe(c.and_then(|c| c.ipc), |i| significant(i, 3)));
        }
        if bytes {
            row.push(maybe(v.code_bytes, |b| b.to_string()));
        }
        table.rows.push(row);
    }
    table
}

/// Mean, spread and interval of one variant, with the same number of decimals.
fn figures(v: &Variant) -> Vec<Cell> {
    if v.n == 0 {
        let mut cells = vec![number("no samples kept")];
        cells.resize_with(5, || number(NONE));
        return cells;
    }
    let d = decimals(v.mean, half_width(v.ci95));
    vec![
        number(fixed(v.mean, d)),
        number(significant(v.sd, 2)),
        number(at_least_two_digits(v.median, d)),
        number(at_least_two_digits(v.min, d)),
        number(interval(v.mean, v.ci95)),
    ]
}

fn rejected(v: &Variant) -> Cell {
    let reasons = v.rejected_by.iter().filter(|(_, n)| **n > 0);
    let reasons: Vec<String> = reasons.map(|(why, n)| format!("{} {why}", count(*n))).collect();
    number(count(v.rejected)).with_detail(reasons.join(", "))
}

/// User and system time, memory and the like; `None` if no variant has any.
fn metrics(e: &Experiment) -> Option<Table> {
    let names = e.metric_units();
    if names.is_empty() {
        return None;
    }
    let mut table = Table::new("Other metrics of the same runs (mean, with the standard deviation below)");
    table.words("Variant");
    for (name, unit) in &names {
        table.numbers(name, shown(unit));
    }
    for v in listed_variants(e, MOST_PAIRS) {
        let mut row = vec![words(&v.name)];
        for (name, _) in &names {
            row.push(match v.metrics.get(*name) {
                Some(m) => number(fixed(m.mean, decimals(m.mean, m.sd))).with_detail(format!(
                    "SD {} {}",
                    significant(m.sd, 2),
                    shown(&m.unit)
                )),
                None => number(NONE),
            });
        }
        table.rows.push(row);
    }
    Some(table)
}

/// A count has no unit to show.
fn shown(unit: &str) -> &str {
    if unit == "1" { "" } else { unit }
}

fn comparisons(e: &Experiment) -> Option<Table> {
    if e.comparisons.is_empty() {
        return None;
    }
    let unit = e.unit.as_str();
    let mut table = Table::new("Comparisons; the difference is first − second, the verdict is about the first");
    table.words("Comparison");
    table.words("Verdict");
    table.numbers(&format!("Difference, {unit}"), "95\u{a0}% CI");
    table.numbers("Ratio", "95\u{a0}% CI");
    table.numbers("t", "Welch");
    table.numbers("df", "");
    table.numbers("p", "Welch");
    table.numbers("p", "rank");
    table.numbers("p", "Holm");
    for c in &e.comparisons {
        let mut row = vec![
            words(format!("{} compared with {}", c.a, c.b)),
            verdict(c.verdict),
            number(estimate(c.difference, c.ci95)).with_detail(interval(c.difference, c.ci95)),
            number(times(c.ratio, bounds(c.ratio_ci95))).with_detail(interval(c.ratio, bounds(c.ratio_ci95))),
        ];
        row.extend(test(c.t, c.df, [c.p, c.p_rank, c.p_holm]));
        table.rows.push(row);
    }
    Some(table)
}

/// The cells of a test: t, its degrees of freedom, and three p-values.
pub(super) fn test(t: f64, df: f64, p: [f64; 3]) -> Vec<Cell> {
    let mut cells = vec![number(fixed(t, 2)), number(fixed(df, 1))];
    cells.extend(p.map(|p| number(p_value(p))));
    cells
}

/// The noise floor for a heading: `0.30 %`.
pub(super) fn floor_figure(floor: Option<f64>) -> String {
    floor
        .filter(|f| f.is_finite())
        .map_or_else(|| "unknown".to_owned(), percent)
}
