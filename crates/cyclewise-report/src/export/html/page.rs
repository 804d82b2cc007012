//! The data of the records page's template.

use super::experiment::{ExperimentView, strips};
use super::machine::{Fact, facts, fingerprint, mitigations, tool};
use super::plot::SERIES;
use crate::answer;
use crate::error::Result;
use crate::record::{Published, Record, Warning};
use askama::Template;

pub const STYLE: &str = include_str!("../../../templates/report.css");

/// Dots of all strips of a page, in each of its two shapes. A dot takes about 10 bytes in each, so the dots of a page of one
/// whole run stay below a megabyte.
const DOTS: usize = 36_000;
/// With fewer dots a strip hides its spread.
const LEAST_DOTS: usize = 40;
/// With more dots a strip is a block.
const MOST_DOTS: usize = 500;

/// The most dots of each of so many strips.
pub fn dots(strips: usize) -> usize {
    (DOTS / strips.max(1)).clamp(LEAST_DOTS, MOST_DOTS)
}

/// One or more records.
#[derive(Template)]
#[template(path = "run.html")]
pub struct RunPage<'a> {
    title: String,
    style: &'static str,
    series: usize,
    records: Vec<RecordView<'a>>,
}

struct RecordView<'a> {
    id: String,
    /// The CPU model.
    name: &'a str,
    created: &'a str,
    answer: Vec<String>,
    facts: Vec<Fact>,
    mitigations: Vec<(String, String)>,
    warnings: &'a [Warning],
    experiments: Vec<ExperimentView<'a>>,
}

impl<'a> RunPage<'a> {
    pub fn new(records: &'a [Record], published: &dyn Fn(&str) -> &'static [Published]) -> Result<Self> {
        let title = match records {
            [one] if one.experiments.iter().any(|e| e.timing.is_some()) => {
                format!("Commands on {}", one.machine.cpu_model)
            }
            [one] => format!("Hot paths on {}", one.machine.cpu_model),
            many => format!("Hot paths: {} records", many.len()),
        };
        let dots = dots(records.iter().flat_map(|r| &r.experiments).map(strips).sum());
        let records = records
            .iter()
            .enumerate()
            .map(|(i, record)| RecordView::new(record, i + 1, dots, published))
            .collect::<Result<_>>()?;
        Ok(RunPage {
            title,
            style: STYLE,
            series: SERIES,
            records,
        })
    }
}

impl<'a> RecordView<'a> {
    fn new(
        record: &'a Record,
        number: usize,
        dots: usize,
        published: &dyn Fn(&str) -> &'static [Published],
    ) -> Result<Self> {
        let mut facts = fingerprint(&record.machine);
        facts.extend(run_facts(record));
        let experiments = record
            .experiments
            .iter()
            .enumerate()
            .map(|(i, e)| {
                let id = format!("r{number}-e{}", i + 1);
                ExperimentView::new(record, e, id, dots, published(&e.name))
            })
            .collect::<Result<_>>()?;
        Ok(RecordView {
            id: format!("r{number}"),
            name: &record.machine.cpu_model,
            created: &record.created,
            answer: answer::sentences(record),
            facts,
            mitigations: mitigations(&record.machine),
            warnings: &record.machine.warnings,
            experiments,
        })
    }
}

/// The run's parameters.
fn run_facts(record: &Record) -> Vec<Fact> {
    let command = if record.command.is_empty() {
        "not recorded".to_owned()
    } else {
        format!("cyclewise {}", record.command.join(" "))
    };
    facts([
        ("Measured", record.created.clone()),
        ("Written by", tool(&record.tool)),
        ("Seed", record.seed.to_string()),
        ("Command", command),
    ])
}
