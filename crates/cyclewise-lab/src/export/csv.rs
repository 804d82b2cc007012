//! CSV: one line a variant, with the header spelled as the record's fields.

use crate::error::{Error, Result};
use crate::record::Record;

const HEADER: [&str; 15] = [
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
];

/// The record's variants.
///
/// # Errors
/// None that a measured record can cause.
pub fn record(record: &Record) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER).map_err(failed)?;
    for e in &record.experiments {
        for v in &e.variants {
            let cycles = v.cycles.as_ref();
            let optional = |value: Option<f64>| value.map(|x| x.to_string()).unwrap_or_default();
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
                v.ci95[0].to_string(),
                v.ci95[1].to_string(),
                v.code_bytes.map(|b| b.to_string()).unwrap_or_default(),
                optional(cycles.map(|c| c.per_op)),
                optional(cycles.and_then(|c| c.instructions)),
                cycles.map(|c| c.source.clone()).unwrap_or_default(),
            ];
            writer.write_record(row).map_err(failed)?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| failed(e.into_error().into()))?;
    String::from_utf8(bytes).map_err(|e| Error::check(format!("CSV is not UTF-8: {e}; please report this")))
}

fn failed(e: csv::Error) -> Error {
    Error::check(format!("a result could not be written as CSV: {e}; please report this"))
}
