//! The data of the comparison page's template.

use super::experiment::{floor_figure, test};
use super::machine::{fingerprint, tool};
use super::page::{STYLE, dots};
use super::plot::{Figure, Plot, SERIES, Strip};
use super::table::{Cell, Table, number, verdict, words};
use super::words::{Sentence, sentence};
use crate::answer::{Finding, summary};
use crate::error::Result;
use crate::export::fleet::searched;
use crate::export::number::{count, estimate, interval, plus_minus, significant};
use crate::export::record_name;
use crate::export::side_by_side::{self, SideBySide, alike};
use crate::export::table::{self, Of};
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, MOST_PAIRED, Side};
use crate::record::fleet_report::FleetReport;
use crate::record::{Verdict, letters};
use askama::Template;

#[derive(Template)]
#[template(path = "compare.html")]
pub(super) struct ComparePage<'a> {
    title: String,
    style: &'static str,
    series: usize,
    /// Each record's letter and name.
    names: Vec<(String, String)>,
    warnings: Vec<String>,
    machines: Table,
    side_by_side: Option<SideBySideView>,
    /// Empty with more records than can be compared with the first on one page.
    experiments: Vec<ComparedExperiment<'a>>,
    /// Where those comparisons are, if not here.
    not_paired: String,
}

/// All records side by side.
struct SideBySideView {
    alike: &'static str,
    groups: Option<Table>,
    rows: Option<Table>,
    /// What outliers were looked for in; empty if none could be.
    searched: String,
    outliers: Vec<String>,
}

impl SideBySideView {
    fn new(fleet: &FleetReport) -> Self {
        let groups = side_by_side::groups(fleet);
        let groups = (groups.len() > 1).then(|| {
            let mut table = Table::new("The groups of records whose machines are alike");
            table.words("Records");
            table.words("Machine");
            let rows = groups
                .into_iter()
                .map(|(records, label)| vec![words(records), words(label)]);
            table.rows = rows.collect();
            table
        });
        let SideBySide { titles, lines, .. } = SideBySide::new(fleet, MOST_COLUMNS);
        let rows = (!lines.is_empty()).then(|| {
            let mut table = Table::new(
                "Headline rows of all records; the spread between machines that are alike, and between groups, with 95\u{a0}% intervals",
            );
            for (i, title) in titles.iter().enumerate() {
                match i {
                    0 => table.words(title),
                    _ => table.numbers(title, ""),
                }
            }
            let line = |cells: Vec<String>| {
                let mut cells = cells.into_iter();
                let first = cells.next().map(words);
                first.into_iter().chain(cells.map(number)).collect()
            };
            table.rows = lines.into_iter().map(line).collect();
            table
        });
        SideBySideView {
            alike: alike(fleet),
            groups,
            rows,
            searched: if fleet.search.tests > 0 {
                searched(fleet)
            } else {
                String::new()
            },
            outliers: fleet.outliers.iter().map(|o| o.sentence.clone()).collect(),
        }
    }
}

/// Records that have a column of their own: the page's table scrolls.
const MOST_COLUMNS: usize = 26;

struct ComparedExperiment<'a> {
    id: String,
    name: &'a str,
    question: &'a str,
    floor: String,
    line: String,
    /// Those that are more than same or undecided.
    verdicts: Vec<Sentence>,
    plot: Plot,
    table: Table,
    notes: &'a [String],
}

impl<'a> ComparePage<'a> {
    pub(super) fn new(report: &'a CompareReport) -> Result<Self> {
        let names = report.records.iter().enumerate();
        let names: Vec<_> = names.map(|(i, r)| (letters(i), record_name(r))).collect();
        let letters: Vec<&str> = names.iter().map(|(letter, _)| letter.as_str()).collect();
        let paired = match report.records.len() > MOST_PAIRED {
            true => &[][..],
            false => &report.experiments[..],
        };
        let dots = dots(paired.iter().map(|e| strips(e).len()).sum());
        let experiments = paired
            .iter()
            .enumerate()
            .map(|(i, e)| ComparedExperiment::new(e, format!("e{}", i + 1), dots))
            .collect::<Result<_>>()?;
        let (warnings, more) = side_by_side::warnings(report);
        let warnings = warnings.iter().cloned().chain(more).collect();
        Ok(ComparePage {
            title: match letters.len() {
                0..=MOST_PAIRED => format!("Comparison of records {}", letters.join(" and ")),
                n => format!("Comparison of {} records", count(n)),
            },
            style: STYLE,
            series: SERIES,
            names,
            warnings,
            machines: machines(report),
            side_by_side: report.fleet.as_ref().map(SideBySideView::new),
            not_paired: match report.records.len() {
                0..=MOST_PAIRED => String::new(),
                n => side_by_side::not_paired(n),
            },
            experiments,
        })
    }
}

/// The machines side by side; a sign and a colour mark a row that differs.
fn machines(report: &CompareReport) -> Table {
    let mut table = Table::new("The records and their machines; ≠ marks differences");
    table.words("");
    for (i, record) in report.records.iter().enumerate() {
        table.words(&format!("{}: {}", letters(i), record_name(record)));
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
        // Measured quantities never agree to the last digit, and a node's boot and job are its own.
        let always_differs =
            ["Node", "Tick rate", "Core cycles per tick", "Stolen during the run"].contains(&first.term);
        row(
            first.term,
            line.iter().map(|fact| fact.text.clone()).collect(),
            always_differs,
        );
    }
    table
}

impl<'a> ComparedExperiment<'a> {
    fn new(e: &'a CompareExperiment, id: String, dots: usize) -> Result<Self> {
        let names: Vec<[String; 2]> = e
            .rows
            .iter()
            .map(|row| [row.other, row.base].map(|i| format!("{} on {}", row.variant, letters(i))))
            .collect();
        let findings: Vec<Finding> = e
            .rows
            .iter()
            .zip(&names)
            .map(|(row, [a, b])| Finding::between(row, e.unit, a, b))
            .collect();
        let told = findings
            .iter()
            .filter(|f| !matches!(f.verdict, Verdict::Same | Verdict::Undecided));
        Ok(ComparedExperiment {
            id,
            name: &e.name,
            question: &e.question,
            floor: floor_figure(e.floor),
            line: summary(&findings).unwrap_or_default(),
            verdicts: told.map(sentence).collect(),
            plot: figure(e, dots).draw()?,
            table: rows(e),
            notes: &e.notes,
        })
    }
}

/// One strip per variant and record, also if a record is in several rows.
fn strips(e: &CompareExperiment) -> Vec<Strip<'_>> {
    let mut strips: Vec<(&str, usize, Strip)> = Vec::new();
    for row in &e.rows {
        let sides = [
            (row.base, Of::Base, row.basis.base, &row.base_samples),
            (row.other, Of::Other, row.basis.other, &row.other_samples),
        ];
        for (record, of, median, samples) in sides {
            if !strips
                .iter()
                .any(|(variant, r, _)| *variant == row.variant && *r == record)
            {
                let strip = Strip {
                    label: format!("{} {}", letters(record), row.variant),
                    samples,
                    states: "",
                    value: match of {
                        // A row that is not linear has no value to mark.
                        _ if !row.lengths.is_empty() => f64::NAN,
                        _ if median > 0.0 => median,
                        Of::Base => row.base_stats.mean,
                        Of::Other => row.other_stats.mean,
                    },
                    ci95: [f64::NAN; 2],
                    figure: table::side(row, of),
                    series: record,
                };
                strips.push((&row.variant, record, strip));
            }
        }
    }
    strips.into_iter().map(|(_, _, strip)| strip).collect()
}

fn figure(e: &CompareExperiment, dots: usize) -> Figure<'_> {
    Figure {
        name: &e.name,
        unit: e.unit.as_str(),
        seed: 1,
        dots,
        strips: strips(e),
    }
}

fn rows(e: &CompareExperiment) -> Table {
    let unit = e.unit.as_str();
    let mut table =
        Table::new("Each variant in both records; the verdict is about the second, the ratio is second / first");
    table.words("Variant");
    table.words("Verdict");
    table.numbers("Ratio", "95\u{a0}%");
    table.numbers("Base", unit);
    table.numbers("Other", unit);
    table.words("Evidence");
    table.numbers("Base mean", unit);
    table.numbers("Other mean", unit);
    table.numbers(&format!("Difference, {unit}"), "95\u{a0}% CI");
    table.numbers("t", "Welch");
    table.numbers("df", "");
    table.numbers("p", "Welch");
    table.rows = e.rows.iter().map(|r| row(r, e)).collect();
    table
}

fn row(row: &CompareRow, e: &CompareExperiment) -> Vec<Cell> {
    let finding = Finding::between(row, e.unit, "", "");
    let reason = finding.reason.map_or("", |reason| reason);
    let mut cells = vec![
        words(&row.variant).with_detail(format!("{} against {}", letters(row.other), letters(row.base))),
        verdict(row.verdict).with_detail(reason),
        number(finding.times()).with_detail(finding.interval()),
        number(table::side(row, Of::Base)),
        number(table::side(row, Of::Other)),
        words(&row.basis.seen).with_detail(at_copies(row)),
        side(&row.base_stats),
        side(&row.other_stats),
        number(estimate(row.difference, row.ci95)).with_detail(interval(row.difference, row.ci95)),
    ];
    cells.extend(test(row.t, row.df, &[row.p]));
    cells
}

/// The ratio at each length: `0.42× at 4, 0.95× at 8 copies`; what is beside is of the one nearest to 1.
fn at_copies(row: &CompareRow) -> String {
    let at = row
        .lengths
        .iter()
        .map(|at| format!("{}× at {}", significant(at.ratio, 3), at.copies));
    match at.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        each => format!("{each} copies; the figures are of the one nearest to 1"),
    }
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
