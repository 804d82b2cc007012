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
    let mut document: BTreeMap<String, BTreeMap<&str, Bounds>> = BTreeMap::new();
    for e in &record.experiments {
        let (measure, scale) = match e.unit {
            Unit::TicksPerOp => ("latency", 1e9 / record.machine.tsc_hz),
            Unit::NanosPerOp => ("latency", 1.0),
            Unit::Seconds => ("latency", 1e9),
            Unit::OpsPerSecond => ("throughput", 1.0),
        };
        for v in e.variants.iter().filter(|v| !v.is_not_linear()) {
            let bounds = Bounds {
                value: v.mean * scale,
                lower_value: v.ci95[0] * scale,
                upper_value: v.ci95[1] * scale,
            };
            document.insert(format!("{}/{}", e.name, v.name), BTreeMap::from([(measure, bounds)]));
        }
    }
    json::pretty(&document)
}
