//! The formats of hyperfine, for scripts and pages that read them: its JSON and CSV, and its table in Markdown.
//!
//! They have wall times, whatever the record's verdicts are about. Relative speeds are those of hyperfine: ratios of means with an error from
//! both standard deviations. The record has intervals and verdicts.

use super::json::pretty;
use crate::error::{Error, Result};
use crate::record::{Record, Unit, Variant};
use clap::ValueEnum;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A unit of times in tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeUnit {
    /// Millionths of a second
    Microsecond,
    /// Thousandths of a second
    Millisecond,
    /// Seconds
    Second,
}

impl TimeUnit {
    /// The unit that fits a time.
    fn fitting(seconds: f64) -> Self {
        match seconds {
            s if s < 1e-3 => Self::Microsecond,
            s if s < 1.0 => Self::Millisecond,
            _ => Self::Second,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Microsecond => "µs",
            Self::Millisecond => "ms",
            Self::Second => "s",
        }
    }

    fn shown(self, seconds: f64) -> String {
        match self {
            Self::Microsecond => format!("{:.1}", seconds * 1e6),
            Self::Millisecond => format!("{:.1}", seconds * 1e3),
            Self::Second => format!("{seconds:.3}"),
        }
    }
}

impl From<TimeUnit> for Unit {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Microsecond => Self::Microseconds,
            TimeUnit::Millisecond => Self::Milliseconds,
            TimeUnit::Second => Self::Seconds,
        }
    }
}

/// A command's result, as hyperfine has it.
#[derive(Serialize)]
struct CommandResult {
    command: String,
    mean: f64,
    stddev: f64,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: Vec<f64>,
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<i32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

impl CommandResult {
    /// `None` of a row that is no command.
    fn from_variant(v: &Variant) -> Option<Self> {
        let timed = v.timed.as_ref()?;
        let metric = |name: &str| v.metrics.get(name).map_or(&[][..], |m| &m.samples);
        let times = match metric("wall") {
            [] => &v.samples[..],
            wall => wall,
        };
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64;
        let average = mean(times);
        let squares: f64 = times.iter().map(|t| (t - average).powi(2)).sum();
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        Some(Self {
            command: v.name.clone(),
            mean: average,
            stddev: (squares / times.len().saturating_sub(1).max(1) as f64).sqrt(),
            median: f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]),
            user: mean(metric("user")),
            system: mean(metric("sys")),
            min: least,
            max: most,
            times: times.to_vec(),
            memory_usage_byte: metric("max-rss").iter().map(|kib| (kib * 1024.0) as u64).collect(),
            exit_codes: timed.exit_codes.clone(),
            parameters: timed.parameters.clone(),
        })
    }
}

fn results(record: &Record) -> Vec<CommandResult> {
    let variants = record.experiments.iter().flat_map(|e| &e.variants);
    variants.filter_map(CommandResult::from_variant).collect()
}

/// hyperfine's JSON.
pub fn json(record: &Record) -> Result<String> {
    #[derive(Serialize)]
    struct Summary {
        results: Vec<CommandResult>,
    }
    pretty(&Summary {
        results: results(record),
    })
}

/// hyperfine's CSV.
pub fn csv(record: &Record) -> Result<String> {
    let results = results(record);
    let parameters: BTreeSet<&String> = results.iter().flat_map(|r| r.parameters.keys()).collect();
    let failed = |e: &dyn std::fmt::Display| Error::check(format!("CSV: {e}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];
    let header = columns.map(str::to_owned).into_iter();
    writer
        .write_record(header.chain(parameters.iter().map(|p| format!("parameter_{p}"))))
        .map_err(|e| failed(&e))?;
    for r in &results {
        let figures = [r.mean, r.stddev, r.median, r.user, r.system, r.min, r.max].map(|f| f.to_string());
        let values = parameters
            .iter()
            .map(|p| r.parameters.get(*p).cloned().unwrap_or_default());
        let row = std::iter::once(r.command.clone()).chain(figures).chain(values);
        writer.write_record(row).map_err(|e| failed(&e))?;
    }
    let bytes = writer.into_inner().map_err(|e| failed(&e))?;
    String::from_utf8(bytes).map_err(|e| failed(&e))
}

/// hyperfine's table, in this unit or in the one that fits the first command.
pub fn markdown(record: &Record, unit: Option<TimeUnit>) -> Result<String> {
    let results = results(record);
    let fits = || results.first().map_or(TimeUnit::Second, |r| TimeUnit::fitting(r.mean));
    let unit = unit.unwrap_or_else(fits);
    let fastest = results.iter().min_by(|a, b| a.mean.total_cmp(&b.mean));
    let name = unit.name();
    let mut out =
        format!("| Command | Mean [{name}] | Min [{name}] | Max [{name}] | Relative |\n|:---|---:|---:|---:|---:|\n");
    for r in &results {
        let relative = match fastest {
            Some(fastest) if std::ptr::eq(fastest, r) => "1.00".to_owned(),
            Some(fastest) => {
                let ratio = r.mean / fastest.mean;
                let error = ratio * (r.stddev / r.mean).hypot(fastest.stddev / fastest.mean);
                format!("{ratio:.2} ± {error:.2}")
            }
            None => String::new(),
        };
        let _ = writeln!(
            out,
            "| `{}` | {} ± {} | {} | {} | {relative} |",
            r.command.replace('|', "\\|"),
            unit.shown(r.mean),
            unit.shown(r.stddev),
            unit.shown(r.min),
            unit.shown(r.max),
        );
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::record_of;
    use crate::record::{Experiment, Metric, TimedCommand};

    fn command(name: &str, samples: &[f64], parameter: &str) -> Variant {
        let metric = |samples: &[f64]| Metric {
            samples: samples.to_vec(),
            ..Metric::default()
        };
        Variant {
            name: name.to_owned(),
            samples: samples.to_vec(),
            metrics: [
                ("user".to_owned(), metric(&[0.001, 0.003])),
                ("sys".to_owned(), metric(&[0.002, 0.002])),
                ("max-rss".to_owned(), metric(&[100.0, 200.0])),
            ]
            .into(),
            timed: Some(TimedCommand {
                parameters: [("n".to_owned(), parameter.to_owned())].into(),
                exit_codes: vec![0, 139],
                ..TimedCommand::default()
            }),
            ..Variant::default()
        }
    }

    fn record() -> Record {
        record_of(vec![Experiment {
            variants: vec![
                command("a, b", &[0.010, 0.030], "1"),
                command("c|d", &[0.008, 0.012], "2"),
            ],
            ..Experiment::default()
        }])
    }

    #[test]
    fn the_fields_are_hyperfines() {
        let value: serde_json::Value = serde_json::from_str(&json(&record()).unwrap()).unwrap();
        let of = &value["results"][0];
        let number = |name: &str| of[name].as_f64().unwrap();
        assert_eq!(of["command"], "a, b");
        for (name, expected) in [
            ("mean", 0.02),
            ("stddev", 0.0141421356),
            ("median", 0.02),
            ("user", 0.002),
            ("max", 0.03),
        ] {
            assert!((number(name) - expected).abs() < 1e-9, "{name}");
        }
        assert_eq!(of["times"], serde_json::json!([0.01, 0.03]));
        assert_eq!(of["memory_usage_byte"], serde_json::json!([102_400, 204_800]));
        assert_eq!(of["exit_codes"], serde_json::json!([0, 139]));
        assert_eq!(of["parameters"]["n"], "1");
    }

    #[test]
    fn other_quantities_do_not_take_the_place_of_wall_times() {
        let mut r = record();
        let v = &mut r.experiments[0].variants[0];
        v.metrics.insert(
            "wall".to_owned(),
            Metric {
                samples: vec![1.0, 2.0],
                ..Metric::default()
            },
        );
        let value: serde_json::Value = serde_json::from_str(&json(&r).unwrap()).unwrap();
        assert_eq!(value["results"][0]["times"], serde_json::json!([1.0, 2.0]));
    }

    #[test]
    fn tables_have_the_unit_that_fits_or_that_is_asked_for() {
        assert_eq!(
            markdown(&record(), None).unwrap(),
            "| Command | Mean [ms] | Min [ms] | Max [ms] | Relative |\n\
             |:---|---:|---:|---:|---:|\n\
             | `a, b` | 20.0 ± 14.1 | 10.0 | 30.0 | 2.00 ± 1.52 |\n\
             | `c\\|d` | 10.0 ± 2.8 | 8.0 | 12.0 | 1.00 |\n"
        );
        assert_says!(
            markdown(&record(), Some(TimeUnit::Second)).unwrap(),
            "| 0.020 ± 0.014 |"
        );
        let csv = csv(&record()).unwrap();
        assert!(
            csv.starts_with("command,mean,stddev,median,user,system,min,max,parameter_n\n\"a, b\",0.02,"),
            "{csv}"
        );
    }
}
