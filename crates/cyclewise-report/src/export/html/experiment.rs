//! The data of one experiment of a record, for the template: verdicts, plots and tables.

use super::in_context;
use super::plot::{Figure, Heat, Plot, Strip};
use super::table::{Cell, Table, maybe, number, verdict, words};
use super::words::{Sentence, floor, sentence};
use crate::answer::{self, Finding};
use crate::error::Result;
use crate::export::listed_variants;
use crate::export::number::{NONE, count, decimals, estimate, fixed, interval, p_value, percent, significant};
use crate::export::row::{cycles, kind, least, marks, median, spread, usual_state};
use crate::record::core_to_core::{Matrix, spans};
use crate::record::{Experiment, Published, Record, Variant, bounds};

pub(super) struct ExperimentView<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) question: &'a str,
    pub(super) source: &'a str,
    pub(super) line: String,
    pub(super) verdicts: Vec<Sentence>,
    pub(super) floor: String,
    /// The samples, or what operations add to surroundings.
    pub(super) plot: Plot,
    /// The one-way times between CPUs, if it has them.
    pub(super) matrix: Option<Plot>,
    pub(super) choices: Vec<String>,
    /// What someone needs to decide.
    pub(super) table: Table,
    /// Every figure, which the page folds away.
    pub(super) details: Vec<Table>,
    /// Whether it has figures: where an emulator ran a guest, it has none.
    pub(super) has_figures: bool,
    /// Who ran a guest of ring 0, and what was checked.
    pub(super) guest: Vec<Table>,
    pub(super) published: Option<Table>,
    pub(super) notes: &'a [String],
}

impl<'a> ExperimentView<'a> {
    /// The view of `e` of `record`; `id` is its anchor, `dots` the most dots of a strip.
    pub(super) fn new(
        record: &Record,
        e: &'a Experiment,
        id: String,
        dots: usize,
        published: &[Published],
    ) -> Result<Self> {
        let verdicts = e
            .comparisons
            .iter()
            .map(|c| sentence(&Finding::of_comparison(c, e.unit)));
        let figures = Some(figures(e)).filter(|table| !table.rows.is_empty());
        let details = [figures, metrics(e), comparisons(e)];
        Ok(ExperimentView {
            id,
            name: &e.name,
            question: &e.question,
            source: &e.source,
            line: answer::line(e),
            choices: answer::choices(e, record.machine.tsc_hz),
            verdicts: verdicts.collect(),
            floor: in_context::floor(e).unwrap_or_else(|| floor(e.control.as_ref(), e.unit)),
            plot: match in_context::heat(e)? {
                Some(heat) => heat,
                None => figure(e, record.seed, dots).draw()?,
            },
            matrix: matrix(e)?,
            table: in_context::table(e).unwrap_or_else(|| variants(record, e)),
            details: details.into_iter().flatten().collect(),
            has_figures: e.guest().is_none() || !e.variants.is_empty(),
            guest: super::guest::tables(e),
            published: super::published::table(e, published),
            notes: &e.notes,
        })
    }
}

pub(super) fn strips(e: &Experiment) -> usize {
    listed_variants(e, MOST_PAIRS).len()
}

fn figure(e: &Experiment, seed: u64, dots: usize) -> Figure<'_> {
    Figure {
        name: &e.name,
        unit: e.unit.as_str(),
        seed,
        dots,
        strips: listed_variants(e, MOST_PAIRS)
            .into_iter()
            .map(|v| {
                let (value, ci95) = v.value();
                // A slope that is no cost has no value to mark.
                let value = if v.is_not_linear() { f64::NAN } else { value };
                Strip {
                    label: v.name.clone(),
                    samples: &v.samples,
                    states: &v.sample_states,
                    value,
                    ci95: bounds(ci95),
                    figure: median(v),
                    series: 0,
                }
            })
            .collect(),
    }
}

/// With more pairs of CPUs than this, only the matrix shows them.
const MOST_PAIRS: usize = 45;

/// The heat map of the one-way times between CPUs.
fn matrix(e: &Experiment) -> Result<Option<Plot>> {
    let Some(matrix) = Matrix::of_experiment(e) else {
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

/// Of each variant what someone needs to decide.
fn variants(record: &Record, e: &Experiment) -> Table {
    let unit = e.unit.as_str();
    let usual = usual_state(e);
    let has_cycles = e.variants.iter().any(|v| v.cycles.is_some());
    let has_kind = e.variants.iter().any(|v| v.kind.is_some());
    let mut table = Table::new(format!("What each variant costs, in {unit}"));
    table.words("Variant");
    table.numbers("Median", "95\u{a0}% interval");
    if has_cycles {
        table.numbers("Core cycles", "cycle/op");
    }
    table.numbers("n", usual_name(usual));
    if has_kind {
        table.words("Kind");
    }
    table.words("Marks");
    for v in listed_variants(e, MOST_PAIRS) {
        let mut row = vec![words(&v.name)];
        row.push(if v.n == 0 {
            number("no samples kept")
        } else {
            number(median(v)).with_detail(spread(v))
        });
        if has_cycles {
            row.push(number(cycles(v)).with_detail(v.cycles.as_ref().map_or("", |c| c.source.as_str())));
        }
        row.push(number(count(v.figure().n)));
        if has_kind {
            row.push(words(kind(v)));
        }
        let adds = record.adds_among([&e.name, &v.name]);
        row.push(words(marks(v, usual, adds).join("; ")));
        table.rows.push(row);
    }
    table
}

fn usual_name(state: crate::record::State) -> &'static str {
    match state {
        crate::record::State::All => "kept",
        state => state.as_str(),
    }
}

/// Every figure of each variant.
fn figures(e: &Experiment) -> Table {
    let unit = e.unit.as_str();
    let ipc = e
        .variants
        .iter()
        .any(|v| v.cycles.as_ref().is_some_and(|c| c.ipc.is_some()));
    let bytes = e.variants.iter().any(|v| v.code_bytes.is_some());
    let mut table = Table::new(format!("All samples of each variant, in {unit}"));
    table.words("Variant");
    table.numbers("n", "kept");
    table.numbers("Rejected", "");
    table.numbers("Mean", "95\u{a0}% CI");
    table.numbers("SD", unit);
    table.numbers("Min", unit);
    if ipc {
        table.numbers("Instructions", "per op");
        table.numbers("IPC", "");
    }
    if bytes {
        table.numbers("Code", "bytes/op");
    }
    for v in listed_variants(e, MOST_PAIRS) {
        let mut row = vec![words(&v.name), number(count(v.n)), rejected(v)];
        row.extend(mean(v));
        let c = v.cycles.as_ref();
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

/// Mean with its interval, spread and least sample.
fn mean(v: &Variant) -> Vec<Cell> {
    if v.n == 0 || v.is_not_linear() {
        return vec![number(NONE), number(NONE), number(NONE)];
    }
    vec![
        number(estimate(v.mean, v.ci95)).with_detail(interval(v.mean, v.ci95)),
        number(significant(v.sd, 2)),
        number(least(v)),
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
    table.numbers("Ratio", "95\u{a0}%");
    table.numbers(&format!("Difference, {unit}"), "95\u{a0}%");
    table.numbers("Rounds", "");
    table.numbers("p", "deciding");
    table.numbers("t", "Welch");
    table.numbers("df", "");
    table.numbers("p", "Welch");
    table.numbers("p", "rank");
    table.words("Tests");
    for c in &e.comparisons {
        let f = Finding::of_comparison(c, e.unit);
        let paired = c.paired();
        let tests: Vec<String> = c.tests.iter().map(|t| format!("{}: {}", t.name, t.seen)).collect();
        let difference = match f.has_difference() {
            true => number(estimate(paired.difference, bounds(paired.ci95)))
                .with_detail(interval(paired.difference, bounds(paired.ci95))),
            false => number(NONE),
        };
        let mut row = vec![
            words(format!("{} against {}", c.a, c.b)),
            verdict(c.verdict),
            number(f.times()).with_detail(f.interval()),
            difference,
            maybe(c.headline.as_ref(), |h| count(h.n)).with_detail(paired.state.as_str()),
            number(p_value(c.p_holm)),
        ];
        row.extend(test(c.t, c.df, &[c.p, c.p_rank]));
        row.push(words(tests.join("; ")));
        table.rows.push(row);
    }
    Some(table)
}

/// The cells of a test: t, its degrees of freedom, and p-values.
pub(super) fn test(t: f64, df: f64, p: &[f64]) -> Vec<Cell> {
    let mut cells = vec![number(fixed(t, 2)), number(fixed(df, 1))];
    cells.extend(p.iter().map(|p| number(p_value(*p))));
    cells
}

/// The noise floor for a heading: `0.30 %`.
pub(super) fn floor_figure(floor: Option<f64>) -> String {
    floor
        .filter(|f| f.is_finite())
        .map_or_else(|| "unknown".to_owned(), percent)
}
