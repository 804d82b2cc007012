//! CSV: one line per variant, point or cell; the header has the names of the JSON fields.
//!
//! New columns are added at the end. A bound that does not exist is empty. What a plot or a dashboard takes is `headline_median` with its interval; the mean and sd of all samples
//! move with one cold run. A row that is not linear in its copies has no cost: its columns of figures are empty, and those of its
//! range have the time of a copy by the loop around it, at least and at most.

use crate::error::{Error, Result};
use crate::record::{FigureKind, Interval, Matrix, Record};

/// The names of the columns of variants.
pub const HEADER: &str = "experiment,variant,unit,n,rejected,mean,sd,median,min,ci95_low,ci95_high,code_bytes,core_cycles,\
    instructions,cycles_source,headline_median,headline_low,headline_high,headline_n,state,kind,linear,node,\
    provenance,range_least,range_least_low,range_least_high,range_least_copies,range_most,range_most_low,\
    range_most_high,range_most_copies";

/// The record's variants.
pub fn record(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER.split(',')).map_err(failed)?;
    for e in &record.experiments {
        // The cells of a matrix are rows called `operation/surroundings`.
        let cells = e.matrix().map(Matrix::rows).unwrap_or_default();
        for v in e.variants.iter().chain(&cells) {
            let cycles = v.cycles.as_ref();
            let figure = v.figure();
            let (value, ci95) = v.value();
            let [low, high] = ends(ci95);
            let [mean_low, mean_high] = ends(v.ci95.map(Some));
            let cost = |figure: String| if v.is_not_linear() { String::new() } else { figure };
            let mut row = vec![
                e.name.clone(),
                v.name.clone(),
                e.unit.as_str().to_string(),
                v.n.to_string(),
                v.rejected.to_string(),
                cost(v.mean.to_string()),
                cost(v.sd.to_string()),
                cost(v.median.to_string()),
                cost(v.min.to_string()),
                cost(mean_low),
                cost(mean_high),
                v.code_bytes.map(|b| b.to_string()).unwrap_or_default(),
                cost(optional(cycles.map(|c| c.per_op))),
                optional(cycles.and_then(|c| c.instructions)),
                cycles.map(|c| c.source.clone().into()).unwrap_or_default(),
                cost(value.to_string()),
                cost(low),
                cost(high),
                figure.n.to_string(),
                figure.state.as_str().to_owned(),
                match v.kind {
                    Some(FigureKind::Latency) => "latency".to_owned(),
                    Some(FigureKind::Throughput) => "throughput".to_owned(),
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
            match v.cost_range() {
                Some(range) => row.extend(range.into_iter().flat_map(|at| {
                    let [low, high] = ends(at.ci95);
                    [at.cost.to_string(), low, high, at.copies.to_string()]
                })),
                None => row.extend(vec![String::new(); 8]),
            }
            writer.write_record(row).map_err(failed)?;
        }
    }
    text(writer)
}

/// A number, or nothing.
pub fn optional(value: Option<f64>) -> String {
    value.map(|x| x.to_string()).unwrap_or_default()
}

/// Both ends of an interval, as far as they are known.
pub fn ends(interval: Interval) -> [String; 2] {
    known(interval).map(optional)
}

/// The ends of an interval that are known: old records have the least and the greatest number for those that are not.
pub(super) fn known(interval: Interval) -> Interval {
    interval.map(|bound| bound.filter(|b| b.is_finite() && b.abs() < 1e300))
}

/// The text that a writer has written.
pub fn text(writer: csv::Writer<Vec<u8>>) -> Result<String> {
    let bytes = writer.into_inner().map_err(|e| failed(e.into_error().into()))?;
    String::from_utf8(bytes).map_err(|e| Error::check(format!("CSV is not UTF-8: {e}; please report this")))
}

/// A failure of a writer in memory: a bug.
pub fn failed(e: csv::Error) -> Error {
    Error::check(format!("a result could not be written as CSV: {e}; please report this"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{bent, experiment_of, record_of};

    /// The cells of a line by the names of the header.
    fn cells(text: &str, line: usize) -> Vec<(String, String)> {
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
        let header = lines.next().unwrap();
        header.zip(lines.nth(line).unwrap()).collect()
    }

    #[test]
    fn a_row_that_is_not_linear_leaves_with_its_range_and_no_cost() {
        let mut r = record_of(vec![experiment_of("e", vec![bent("a", [1.5, 9.0, 7.0], "")])]);
        r.machine.tsc_hz = 1e9;
        let of = |r: &Record, name: &str| -> String {
            let cells = cells(&record(r).unwrap(), 0);
            cells.into_iter().find(|(column, _)| column == name).unwrap().1
        };
        for empty in [
            "mean",
            "sd",
            "median",
            "min",
            "ci95_low",
            "headline_median",
            "headline_low",
        ] {
            assert_eq!(of(&r, empty), "", "{empty}");
        }
        for (column, value) in [
            ("linear", "false"),
            ("range_least", "1.5"),
            ("range_least_copies", "4"),
            ("range_most", "9"),
            ("range_most_copies", "8"),
        ] {
            assert_eq!(of(&r, column), value, "{column}");
        }
        assert!(of(&r, "range_most_low").starts_with("9.0") || of(&r, "range_most_low") == "9");
        let bmf = crate::export::bmf::record(&r).unwrap();
        assert_eq!(bmf.trim(), "{}");
        // The twin: a linear row has a cost and no range.
        r.experiments[0].variants[0].linearity.as_mut().unwrap().linear = Some(true);
        assert_eq!(
            (of(&r, "median").as_str(), of(&r, "range_least").as_str()),
            ("17.6", "")
        );
        assert_says!(crate::export::bmf::record(&r).unwrap(), "e/a");
    }
}
