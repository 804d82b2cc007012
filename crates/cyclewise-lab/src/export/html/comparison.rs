//! The data of the comparison page's template.

use super::experiment::{floor_figure, test};
use super::machine::{fingerprint, tool};
use super::page::STYLE;
use super::plot::{Figure, Plot, SERIES, Strip};
use super::table::{Cell, Table, number, verdict, words};
use super::words::{Finding, Sentence, times};
use crate::error::Result;
use crate::export::letter;
use crate::export::number::{count, estimate, interval, plus_minus, significant};
use crate::record::Verdict;
use crate::record::bounds;
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, Side};
use askama::Template;

/// A comparison of records.
#[derive(Template)]
#[template(path = "compare.html")]
pub(super) struct ComparePage<'a> {
    title: String,
    style: &'static str,
    series: usize,
    warnings: &'a [String],
    machines: Table,
    experiments: Vec<ComparedExperiment<'a>>,
}

/// One experiment of the comparison.
struct ComparedExperiment<'a> {
    id: String,
    name: &'a str,
    question: &'a str,
    floor: String,
    verdicts: Vec<Sentence>,
    /// How many rows are indistinguishable: the summary only counts them.
    indistinguishable: usize,
    plot: Plot,
    table: Table,
    notes: &'a [String],
}

impl<'a> ComparePage<'a> {
    /// The page of `report`.
    pub(super) fn new(report: &'a CompareReport) -> Result<Self> {
        let labels: Vec<&str> = report.records.iter().map(|r| r.label.as_str()).collect();
        let experiments = report
            .experiments
            .iter()
            .enumerate()
            .map(|(i, e)| ComparedExperiment::new(e, format!("e{}", i + 1)))
            .collect::<Result<_>>()?;
        Ok(ComparePage {
            title: format!("Comparison of {}", labels.join(" and ")),
            style: STYLE,
            series: SERIES,
            warnings: &report.warnings,
            machines: machines(report),
            experiments,
        })
    }
}

/// The machines side by side; a sign and a colour mark a row that differs.
fn machines(report: &CompareReport) -> Table {
    let mut table = Table::new("The records and their machines; ≠ marks differences");
    table.words("");
    for (i, record) in report.records.iter().enumerate() {
        table.words(&format!("{}: {}", letter(i), record.label));
    }
    let mut row = |term: &str, texts: Vec<String>, always_differs: bool| {
        let differs = !always_differs && texts.windows(2).any(|pair| pair[0] != pair[1]);
        let mut cells = vec![words(term)];
        cells.extend(texts.into_iter().map(|text| Cell {
            class: if differs { "words differs" } else { "words" },
            sign: if differs { "≠" } else { "" },
            ..words(text)
        }));
        table.rows.push(cells);
    };
    let each = |f: &dyn Fn(usize) -> String| (0..report.records.len()).map(f).collect::<Vec<_>>();
    row("Measured", each(&|i| report.records[i].created.clone()), true);
    row("Written by", each(&|i| tool(&report.records[i].tool)), false);
    row("Seed", each(&|i| report.records[i].seed.to_string()), true);
    let mut facts: Vec<_> = report
        .records
        .iter()
        .map(|r| fingerprint(&r.machine).into_iter())
        .collect();
    while let Some(line) = facts.iter_mut().map(Iterator::next).collect::<Option<Vec<_>>>() {
        let Some(first) = line.first() else { break };
        // Measured quantities never agree to the last digit.
        let always_differs = ["Tick rate", "Core cycles per tick", "Stolen during the run"].contains(&first.term);
        row(
            first.term,
            line.iter().map(|fact| fact.text.clone()).collect(),
            always_differs,
        );
    }
    table
}

impl<'a> ComparedExperiment<'a> {
    fn new(e: &'a CompareExperiment, id: String) -> Result<Self> {
        let verdicts = e.rows.iter().map(|row| {
            let [a, b] = [row.other, row.base].map(|i| format!("{} on {}", row.variant, letter(i)));
            Finding {
                a: &a,
                b: &b,
                unit: e.unit,
                ratio: row.ratio,
                ratio_ci95: bounds(row.ratio_ci95),
                p_holm: row.p_holm,
                verdict: row.verdict,
                floor: e.floor,
            }
            .sentence()
        });
        Ok(ComparedExperiment {
            id,
            name: &e.name,
            question: &e.question,
            floor: floor_figure(e.floor),
            verdicts: verdicts.collect(),
            indistinguishable: e.rows.iter().filter(|row| row.verdict == Verdict::Undecided).count(),
            plot: figure(e).draw()?,
            table: rows(e),
            notes: &e.notes,
        })
    }
}

/// One strip per variant and record, also if a record is in several rows.
fn figure(e: &CompareExperiment) -> Figure<'_> {
    let mut strips: Vec<(&str, usize, Strip)> = Vec::new();
    for row in &e.rows {
        let sides = [
            (row.base, &row.base_stats, &row.base_samples),
            (row.other, &row.other_stats, &row.other_samples),
        ];
        for (record, stats, samples) in sides {
            if !strips
                .iter()
                .any(|(variant, r, _)| *variant == row.variant && *r == record)
            {
                let strip = Strip {
                    label: format!("{} {}", letter(record), row.variant),
                    samples,
                    mean: stats.mean,
                    ci95: stats.ci95,
                    series: record,
                };
                strips.push((&row.variant, record, strip));
            }
        }
    }
    Figure {
        name: &e.name,
        unit: e.unit.as_str(),
        seed: 1,
        strips: strips.into_iter().map(|(_, _, strip)| strip).collect(),
    }
}

fn rows(e: &CompareExperiment) -> Table {
    let unit = e.unit.as_str();
    let mut table =
        Table::new("Each variant in both records; the difference is other − base, the verdict is about other");
    table.words("Variant");
    table.words("Verdict");
    table.numbers("Base", unit);
    table.numbers("Other", unit);
    table.numbers(&format!("Difference, {unit}"), "95\u{a0}% CI");
    table.numbers("Ratio", "95\u{a0}% CI");
    table.numbers("t", "Welch");
    table.numbers("df", "");
    for kind in ["Welch", "rank", "Holm"] {
        table.numbers("p", kind);
    }
    table.rows = e.rows.iter().map(row).collect();
    table
}

fn row(row: &CompareRow) -> Vec<Cell> {
    let mut cells = vec![
        words(&row.variant).with_detail(format!("{} compared with {}", letter(row.other), letter(row.base))),
        verdict(row.verdict),
        side(&row.base_stats),
        side(&row.other_stats),
        number(estimate(row.difference, row.ci95)).with_detail(interval(row.difference, row.ci95)),
        number(times(row.ratio, bounds(row.ratio_ci95))).with_detail(interval(row.ratio, bounds(row.ratio_ci95))),
    ];
    cells.extend(test(row.t, row.df, [row.p, row.p_rank, row.p_holm]));
    cells
}

fn side(side: &Side) -> Cell {
    if side.n == 0 {
        return number("no samples kept");
    }
    number(plus_minus(side.mean, side.ci95)).with_detail(format!(
        "SD {}, n = {}",
        significant(side.sd, 2),
        count(side.n)
    ))
}
