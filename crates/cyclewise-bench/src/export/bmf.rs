//! Bencher Metric Format, for CI dashboards: maps each name to measures, each a value with bounds.
//!
//! Names are `experiment/variant`. Times use Bencher's built-in measure `latency`, in nanoseconds; rates use `throughput`, in
//! operations per second. The bounds are the 95 % confidence interval of the mean. A row that is not linear in its copies has no
//! latency, and is left out.
//!
//! # References
//! Bencher, "Bencher Metric Format (BMF)".

use super::json;
use crate::error::Result;
use crate::record::{Record, Unit};
use serde::Serialize;
use std::collections::BTreeMap;

/// One of Bencher's measures.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Measure {
    Latency(Bounds),
    Throughput(Bounds),
}

#[derive(Serialize)]
struct Bounds {
    value: f64,
    lower_value: f64,
    upper_value: f64,
}

/// The record's variants.
///
/// # Errors
/// Never for a measured record.
pub fn record(record: &Record) -> Result<String> {
    let mut document: BTreeMap<String, Measure> = BTreeMap::new();
    for e in &record.experiments {
        let (measure, scale): (fn(Bounds) -> Measure, f64) = match e.unit {
            Unit::TicksPerOp => (Measure::Latency, 1e9 / record.machine.tsc_hz),
            Unit::NanosPerOp => (Measure::Latency, 1.0),
            Unit::Seconds => (Measure::Latency, 1e9),
            Unit::OpsPerSecond => (Measure::Throughput, 1.0),
        };
        for v in e.variants.iter().filter(|v| !v.is_not_linear()) {
            let bounds = Bounds {
                value: v.mean * scale,
                lower_value: v.ci95[0] * scale,
                upper_value: v.ci95[1] * scale,
            };
            document.insert(format!("{}/{}", e.name, v.name), measure(bounds));
        }
    }
    json::pretty(&document)
}
