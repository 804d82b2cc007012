//! CSV: one line per variant, comparison, point or cell; the header has the names of the JSON fields.
//!
//! New columns are added at the end. Comparisons have a file of their own, because a variant may be in several. A bound that
//! does not exist is empty.

use crate::error::{Error, Result};
use crate::record::{Interval, Kind, Matrix, Record};

/// The names of the columns of variants.
pub const HEADER: [&str; 24] = [
    "experiment",
    "variant",
    "unit",
    "n",
    "rejected",
    "mean",
    "sd",
    "median",
    "min",
    "ci95_low",
    "ci95_high",
    "code_bytes",
    "core_cycles",
    "instructions",
    "cycles_source",
    "headline_median",
    "headline_low",
    "headline_high",
    "headline_n",
    "state",
    "kind",
    "linear",
    "node",
    "provenance",
];

/// The record's variants.
///
/// # Errors
/// Never for a measured record.
pub fn record(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER).map_err(failed)?;
    for e in &record.experiments {
        // The cells of a matrix are rows called `operation/surroundings`.
        let cells = e.matrix().map(Matrix::rows).unwrap_or_default();
        for v in e.variants.iter().chain(&cells) {
            let cycles = v.cycles.as_ref();
            let figure = v.figure();
            let (value, ci95) = v.value();
            let [low, high] = ends(ci95);
            let [mean_low, mean_high] = ends(v.ci95.map(Some));
            let row = [
                e.name.clone(),
                v.name.clone(),
                e.unit.as_str().to_string(),
                v.n.to_string(),
                v.rejected.to_string(),
                v.mean.to_string(),
                v.sd.to_string(),
                v.median.to_string(),
                v.min.to_string(),
                mean_low,
                mean_high,
                v.code_bytes.map(|b| b.to_string()).unwrap_or_default(),
                optional(cycles.map(|c| c.per_op)),
                optional(cycles.and_then(|c| c.instructions)),
                cycles.map(|c| c.source.clone().into()).unwrap_or_default(),
                value.to_string(),
                low,
                high,
                figure.n.to_string(),
                figure.state.as_str().to_owned(),
                match v.kind {
                    Some(Kind::Latency) => "latency".to_owned(),
                    Some(Kind::Throughput) => "throughput".to_owned(),
                    None => String::new(),
                },
                v.linearity
                    .as_ref()
                    .and_then(|l| l.linear)
                    .map(|linear| linear.to_string())
                    .unwrap_or_default(),
                record.machine.identity.node.clone().unwrap_or_default(),
                v.provenance.clone().map(String::from).unwrap_or_default(),
            ];
            writer.write_record(row).map_err(failed)?;
        }
    }
    text(writer)
}

/// A number, or nothing.
pub fn optional(value: Option<f64>) -> String {
    value.map(|x| x.to_string()).unwrap_or_default()
}

/// Both ends of an interval, as far as they are known: old records have the least and the greatest number for those that are not.
pub fn ends(interval: Interval) -> [String; 2] {
    interval.map(|bound| optional(bound.filter(|b| b.is_finite() && b.abs() < 1e300)))
}

/// The record's comparisons, a line for each state.
///
/// # Errors
/// Never for a measured record.
pub fn comparisons(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
        "experiment",
        "a",
        "b",
        "unit",
        "verdict",
        "reason",
        "state",
        "n",
        "effective_n",
        "ratio",
        "ratio_low",
        "ratio_high",
        "difference",
        "ci95_low",
        "ci95_high",
        "p",
        "p_holm",
    ];
    writer.write_record(header).map_err(failed)?;
    for e in &record.experiments {
        for c in &e.comparisons {
            for (i, figures) in std::iter::once(&c.paired()).chain(&c.states).enumerate() {
                let [ratio_low, ratio_high] = ends(figures.ratio_ci95);
                let [low, high] = ends(figures.ci95);
                // The first line has the verdict of all states, the others that of their own.
                let (verdict, reason) = match i {
                    0 => (c.verdict, c.reason.clone().map(String::from).unwrap_or_default()),
                    _ => (figures.verdict, String::new()),
                };
                let row = [
                    e.name.clone(),
                    c.a.clone(),
                    c.b.clone(),
                    e.unit.as_str().to_owned(),
                    verdict.as_str().to_owned(),
                    reason,
                    figures.state.as_str().to_owned(),
                    figures.n.to_string(),
                    figures.effective_n.to_string(),
                    figures.ratio.to_string(),
                    ratio_low,
                    ratio_high,
                    figures.difference.to_string(),
                    low,
                    high,
                    figures.p.to_string(),
                    optional((i == 0).then_some(c.p_holm)),
                ];
                writer.write_record(row).map_err(failed)?;
            }
        }
    }
    text(writer)
}

/// The text that a writer has written.
///
/// # Errors
/// Never: it is in memory.
pub fn text(writer: csv::Writer<Vec<u8>>) -> Result<String> {
    let bytes = writer.into_inner().map_err(|e| failed(e.into_error().into()))?;
    String::from_utf8(bytes).map_err(|e| Error::check(format!("CSV is not UTF-8: {e}; please report this")))
}

/// A failure of a writer in memory: a bug.
pub fn failed(e: csv::Error) -> Error {
    Error::check(format!("a result could not be written as CSV: {e}; please report this"))
}
