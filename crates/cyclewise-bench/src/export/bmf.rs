//! Bencher Metric Format, for CI dashboards: maps each name to measures, each a value with bounds.
//!
//! Names are `experiment/variant`. Times use Bencher's built-in measure `latency`, in nanoseconds; rates use `throughput`, in
//! operations per second. Value and bounds are those of the headline, as the table has them: a dashboard must not alarm about
//! one cold run that a median does not move by. A bound that does not exist is null. A row that is not linear in its copies has
//! no latency, and is left out.
//!
//! # References
//! Bencher, "Bencher Metric Format (BMF)".

use super::csv::known;
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
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

/// The record's variants.
pub fn record(record: &Record) -> Result<String> {
    let mut document: BTreeMap<String, Measure> = BTreeMap::new();
    for e in &record.experiments {
        let (measure, scale): (fn(Bounds) -> Measure, f64) = match e.unit {
            Unit::TicksPerOp => (Measure::Latency, 1e9 / record.machine.tsc_hz),
            Unit::NanosPerOp | Unit::Nanoseconds => (Measure::Latency, 1.0),
            Unit::Seconds => (Measure::Latency, 1e9),
            Unit::Milliseconds => (Measure::Latency, 1e6),
            Unit::Microseconds => (Measure::Latency, 1e3),
            Unit::OpsPerSecond => (Measure::Throughput, 1.0),
        };
        for v in e.variants.iter().filter(|v| v.n > 0 && !v.is_not_linear()) {
            let (value, ci95) = v.value();
            let scaled = |x: f64| Some(x * scale).filter(|x| x.is_finite());
            let Some(value) = scaled(value) else { continue };
            let [lower_value, upper_value] = known(ci95).map(|bound| bound.and_then(scaled));
            let bounds = Bounds {
                value,
                lower_value,
                upper_value,
            };
            document.insert(format!("{}/{}", e.name, v.name), measure(bounds));
        }
    }
    json::pretty(&document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{experiment_of, record_of, sampled};
    use crate::record::{Experiment, Figure};

    /// The document of one row of `samples` seconds, whose headline has this interval.
    fn of(samples: &[f64], ci95: crate::record::Interval) -> serde_json::Value {
        let mut row = sampled("true", samples.to_vec());
        row.headline = Some(Figure {
            median: row.median,
            ci95,
            ..Figure::default()
        });
        let e = Experiment {
            unit: Unit::Seconds,
            ..experiment_of("time", vec![row])
        };
        let text = record(&record_of(vec![e]));
        serde_json::from_str(&text.unwrap()).unwrap()
    }

    #[test]
    fn one_cold_run_moves_neither_the_value_nor_its_bounds() {
        let mut samples = vec![0.5];
        samples.extend([0.0009; 10]);
        let row = &of(&samples, [Some(0.0009), Some(0.001)])["time/true"]["latency"];
        let figure = |name: &str| row[name].as_f64().unwrap();
        assert_eq!(figure("value").round(), 900_000.0, "{row}");
        assert_eq!(
            (figure("lower_value").round(), figure("upper_value").round()),
            (900_000.0, 1_000_000.0)
        );
        // The twin: the mean, which is 50 times as much, with bounds on both sides of 0.
        let mean = crate::stats::describe(&samples).unwrap();
        assert!(mean.mean > 0.04 && mean.ci95[0] < 0.0);
    }

    #[test]
    fn a_bound_that_does_not_exist_is_null() {
        // Older records have the least and the greatest number for such bounds.
        for ci95 in [[None; 2], [Some(f64::MIN), Some(f64::MAX)]] {
            let row = &of(&[0.5, 0.5], ci95)["time/true"]["latency"];
            assert_eq!(
                (row["value"].as_f64(), &row["lower_value"]),
                (Some(5e8), &serde_json::Value::Null)
            );
            assert!(row["upper_value"].is_null() && row.get("upper_value").is_some());
        }
    }
}
