//! CSV: one line per variant, comparison, point or cell; the header has the names of the JSON fields.
//!
//! New columns are added at the end. Comparisons have a file of their own, because a variant may be in several. A bound that
//! does not exist is empty.

pub mod fleet;

pub use fleet::fleet;

use crate::error::{Error, Result};
use crate::record::{Interval, Kind, Matrix, Record};

const HEADER: [&str; 24] = [
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

/// The bounds; old records have the least and the greatest number for those that do not exist.
/// Both ends of an interval, as far as they are known.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Body, Verdict};

    fn lines(text: &str) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let line = |l: std::result::Result<csv::StringRecord, _>| l.unwrap().iter().map(str::to_owned).collect();
        reader.records().map(line).collect()
    }

    #[test]
    fn the_first_columns_keep_their_names_and_each_line_has_them_all() {
        let all = lines(&record(&crate::answer::tests::record()).unwrap());
        assert_eq!(all[0][..3], ["experiment", "variant", "unit"]);
        assert_eq!(all[0][14..17], ["cycles_source", "headline_median", "headline_low"]);
        let popf = all.iter().find(|l| l[1] == "push-popf").unwrap();
        assert_eq!((popf[15].as_str(), popf[19].as_str()), ("13", "quiet"));
        assert!(all.iter().all(|l| l.len() == HEADER.len()));
    }

    #[test]
    fn a_row_of_a_guest_says_who_ran_it_and_others_say_nothing() {
        let mut r = crate::answer::tests::record();
        let experiment = r.experiments.iter_mut().find(|e| e.variants.len() > 1).unwrap();
        experiment.variants[0].provenance = Some(crate::record::guest::Provenance::Svm);
        let all = lines(&record(&r).unwrap());
        let at = all[0].iter().position(|name| name == "provenance").unwrap();
        let said: Vec<&str> = all[1..].iter().map(|line| line[at].as_str()).collect();
        assert_eq!(said.iter().filter(|said| **said == "svm").count(), 1);
        assert_eq!(said.iter().filter(|said| said.is_empty()).count(), said.len() - 1);
    }

    #[test]
    fn a_cell_of_a_matrix_has_a_line_with_what_it_adds() {
        use crate::record::matrix::{Added, Cell, Operation, Surrounding};
        let cell = Cell {
            added: Added {
                ticks: 0.5,
                ci95: [Some(0.25), None],
                n: 2,
                ..Added::default()
            },
            samples: vec![Some(2.5), Some(2.5)],
            ..Cell::default()
        };
        let mut r = Record::default();
        r.experiments.push(crate::record::Experiment {
            name: "in-context".to_owned(),
            body: Body::Matrix(Matrix {
                surroundings: vec![Surrounding {
                    name: "loads-32".to_owned(),
                    samples: vec![Some(2.0), Some(2.0)],
                    ..Surrounding::default()
                }],
                operations: vec![Operation {
                    name: "lock-inc64".to_owned(),
                    cells: vec![Some(cell)],
                    ..Operation::default()
                }],
                ..Matrix::default()
            }),
            ..crate::record::Experiment::default()
        });
        let all = lines(&record(&r).unwrap());
        assert_eq!(all[1][..3], ["in-context", "lock-inc64/loads-32", "tick/op"]);
        assert_eq!(
            all[1][15..19],
            ["0.5", "0.25", "", "2"],
            "a bound that does not exist is empty"
        );
        assert_eq!(all[1][9..11], ["", ""], "the mean has no interval");
    }

    #[test]
    fn a_comparison_has_a_line_for_each_state_and_no_bound_that_does_not_exist() {
        let mut r = crate::answer::tests::record();
        let c = &mut r.experiments[0].comparisons[2];
        assert_eq!(c.verdict, Verdict::Depends);
        c.states[0].ratio_ci95 = [Some(f64::MIN), None];
        let all = lines(&comparisons(&r).unwrap());
        let of: Vec<_> = all.iter().filter(|l| l[1] == "lock-inc64").collect();
        assert_eq!(of.len(), 2);
        assert_eq!(
            (of[0][4].as_str(), of[0][6].as_str(), of[0][9].as_str()),
            ("depends", "quiet", "0.97")
        );
        assert_eq!(
            (of[1][6].as_str(), of[1][10].as_str(), of[1][11].as_str()),
            ("busy", "", "")
        );
        assert_ne!(of[0][10], "");
    }
}
