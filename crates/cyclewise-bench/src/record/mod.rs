//! The record: the JSON of one run, schema `cyclewise.record/1`.
//!
//! Within version 1, fields are only added; readers ignore unknown fields.

mod agreement;
mod among;
mod between;
mod body;
pub mod clean;
#[cfg(feature = "commands")]
pub mod compare;
mod comparison;
pub mod core_to_core;
#[cfg(feature = "commands")]
pub mod doctor;
#[cfg(feature = "commands")]
mod files;
#[cfg(feature = "commands")]
pub mod fleet;
#[cfg(feature = "commands")]
pub mod fleet_report;
pub mod guest;
mod headline;
mod identity;
#[cfg(test)]
mod kept;
mod lengths;
mod letters;
pub mod load;
mod machine;
#[cfg(any(test, feature = "testing"))]
pub mod made_up;
pub mod matrix;
#[cfg(feature = "commands")]
pub mod planned;
pub mod rounds;
mod state;
mod timed;
#[cfg(feature = "commands")]
pub mod verification;
mod warning;

pub use crate::stats::{BetweenRuns, Interval, Linearity, Mode, Paired, PowerLaw, Reason, State, Test, Verdict};
pub use agreement::note_agreement;
pub use among::{Among, RowName};
pub use between::{Basis, Run};
pub use body::Body;
pub use comparison::{Comparison, Estimator, PairAtLength};
#[cfg(feature = "commands")]
pub use files::{is_packed, load, read, read_text, text_of, unpacked};
pub use guest::{Guest, Provenance};
pub use identity::{Cgroup, Identity, Job};
pub(crate) use lengths::ratios_at_lengths;
pub use lengths::{AtLength, CompareAtLength, RunLengths, pairs_at_lengths};
pub use letters::letters;
pub use load::{check_schema, from_str, schema_of};
pub use machine::{CycleSource, CyclesPerTick, Machine, Throttled, Topology, hypervisor_name};
pub use matrix::Matrix;
pub use state::{Batches, Figure, Level, Probe, Rejected};
pub use timed::{QuantityRatio, TimeSettings, TimedCommand};
pub use warning::Warning;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.record/1";

/// The schema of a planned job.
pub const PLAN_SCHEMA: &str = "cyclewise.plan/1";

/// The schema of a simulated sweep.
pub const SIMULATION_SCHEMA: &str = "cyclewise.simulation/1";

/// An interval with its unknown bounds as NaN, which numbers are formatted from.
pub fn bounds(interval: Interval) -> [f64; 2] {
    interval.map(|bound| bound.unwrap_or(f64::NAN))
}

/// These as a map, one by one: `collect` sorts first, and a sort that is compiled for each type makes the build of a benchmark longer.
pub(crate) fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(entries);
    map
}

/// One run of the lab.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// When the run ended, RFC 3339.
    pub created: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// Seed of the order of variants and of the bootstrap.
    pub seed: u64,
    /// The command line after the program's name.
    #[serde(default)]
    pub command: Vec<String>,
    pub machine: Machine,
    pub experiments: Vec<Experiment>,
    /// What was asked for and is not in the record, or not whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
    /// The processes that measured the record, one after the other: each has its part of the rounds. One: the variance between them is
    /// unknown. Empty in records of older versions, which are of one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
}

/// Something that was asked for and not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missing {
    /// The experiment, or the run: `run 2 of 5`.
    pub experiment: String,
    /// The variant; `None` if all of them are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub why: String,
    /// Whether this machine could have measured it: then the run's exit status is not 0.
    pub possible: bool,
}

/// The program that wrote a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The package's version.
    pub version: String,
    /// The commit it was built from, if known.
    pub commit: Option<String>,
}

impl Tool {
    /// The running program.
    pub fn this() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_string(),
            commit: option_env!("CYCLEWISE_COMMIT").map(str::to_string),
        }
    }

    /// Version and commit, for people.
    pub fn shown(&self) -> String {
        match &self.commit {
            None => self.version.clone(),
            Some(commit) => format!("{} ({commit})", self.version),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Timer ticks per operation.
    #[default]
    #[serde(rename = "tick/op")]
    TicksPerOp,
    /// Nanoseconds per operation.
    #[serde(rename = "ns/op")]
    NanosPerOp,
    /// Operations per second: the only unit in which more is faster.
    #[serde(rename = "op/s")]
    OpsPerSecond,
    /// Seconds per run.
    #[serde(rename = "s")]
    Seconds,
    /// Seconds as they are shown; no record has these.
    #[serde(skip)]
    Milliseconds,
    /// As above.
    #[serde(skip)]
    Microseconds,
    /// As above.
    #[serde(skip)]
    Nanoseconds,
}

impl Unit {
    /// The unit's name in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::TicksPerOp => "tick/op",
            Unit::NanosPerOp => "ns/op",
            Unit::OpsPerSecond => "op/s",
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Microseconds => "µs",
            Unit::Nanoseconds => "ns",
        }
    }

    /// Whether a larger value is the faster one.
    pub fn more_is_faster(self) -> bool {
        self == Unit::OpsPerSecond
    }
}

/// Variants that answer one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// The name scripts use.
    pub name: String,
    pub question: String,
    pub source: String,
    pub unit: Unit,
    /// Rounds run; each samples every variant once.
    #[serde(default)]
    pub rounds: usize,
    /// The A/A control and its noise floor.
    #[serde(default)]
    pub control: Option<Control>,
    pub variants: Vec<Variant>,
    /// What the probe beside the batches saw; `None` if the experiment has no probe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
    /// What it has beside variants.
    // No benchmark has any.
    #[cfg_attr(feature = "commands", serde(flatten))]
    #[cfg_attr(not(feature = "commands"), serde(skip))]
    pub body: Body,
    /// Comparisons between variants.
    pub comparisons: Vec<Comparison>,
    /// How the time of variants grows with their parameter, by the name that they share; empty where none has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub growth: BTreeMap<String, PowerLaw>,
    /// How commands were run, of `time`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimeSettings>,
    pub notes: Vec<String>,
}

impl Experiment {
    /// What operations add to surroundings, if the experiment asks that.
    pub fn matrix(&self) -> Option<&Matrix> {
        match &self.body {
            Body::Matrix(matrix) => Some(matrix),
            Body::Variants | Body::Guest(_) => None,
        }
    }

    /// The guest of ring 0 that ran it, if one did.
    pub fn guest(&self) -> Option<&Guest> {
        match &self.body {
            Body::Guest(guest) => Some(guest),
            Body::Variants | Body::Matrix(_) => None,
        }
    }

    /// Names and units of the metrics of all variants, in order of first appearance.
    pub fn metric_units(&self) -> Vec<(&str, &str)> {
        let mut units: Vec<(&str, &str)> = Vec::new();
        for (name, metric) in self.variants.iter().flat_map(|v| &v.metrics) {
            if !units.iter().any(|(known, _)| known == name) {
                units.push((name, &metric.unit));
            }
        }
        units
    }
}

/// One variant measured against itself in the same rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The variant measured twice.
    pub of: String,
    /// Rounds in which both measurements were kept.
    pub n: usize,
    /// The median of variant − control over paired rounds, in the experiment's unit; of means under `--test welch`.
    pub difference: f64,
    /// 99 % interval of the difference.
    pub ci99: [f64; 2],
    /// The noise floor: how far from 1 the 99 % interval of the ratio of the two reaches, as a share of the larger.
    pub floor: f64,
    /// The floors of the states of the neighbour; empty if there is one state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<StateFloor>,
    /// Samples of the second measurement; empty if the control splits the variant's own rounds in two.
    #[serde(default)]
    pub samples: Vec<f64>,
}

/// The noise floor in one state of the neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateFloor {
    pub state: State,
    pub n: usize,
    /// As [`Control::floor`].
    pub floor: f64,
}

/// A measured way of doing an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// The name scripts use.
    pub name: String,
    /// Samples kept.
    pub n: usize,
    /// Samples rejected, for all reasons.
    pub rejected: usize,
    /// Samples rejected, by reason: `preempted`, `migrated`, `stolen`, `clock`, `failed`, `unsuccessful`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rejected_by: BTreeMap<String, usize>,
    /// Rounds whose sample was rejected, so that the others can be paired.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_rounds: Vec<usize>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (n − 1).
    pub sd: f64,
    pub median: f64,
    /// Smallest sample.
    pub min: f64,
    /// 95 % confidence interval of the mean (Student's t).
    pub ci95: [f64; 2],
    /// Bytes of one operation's code, if known.
    pub code_bytes: Option<u32>,
    /// Core cycles, instructions and IPC, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles: Option<Cycles>,
    /// Other quantities of each run (user and system time, memory), by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    /// Samples kept, in the order of their rounds.
    pub samples: Vec<f64>,
    /// Whether one copy waits for the one before; `None` if the row has no copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<FigureKind>,
    /// The headline figure: of the quiet state where enough samples were quiet, of all samples elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<Figure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<Figure>,
    /// The state of each kept sample as a letter (`q`, `b`, `m`); empty if the probe shows one state.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sample_states: String,
    /// Who ran it, if that was a guest of ring 0: as [`Guest::provenance`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Whether the cost is linear in the copies; `None` for rows that are not a slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linearity: Option<Linearity>,
    /// The batch times of each kept sample; `None` for rows that are not a slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<Batches>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_samples: Vec<Rejected>,
    /// The share of each kept sample's CPU time that the hypervisor or the quota of a control group took; empty if it is not known by sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stolen: Vec<f64>,
    /// The headline figure over several runs; `None` if the record has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenRuns>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<TimedCommand>,
}

/// What a row's figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureKind {
    /// Each copy needs the result of the one before.
    Latency,
    /// Copies are independent.
    Throughput,
}

/// Core cycles of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cycles {
    /// Core cycles per operation.
    pub per_op: f64,
    /// 95 % confidence interval.
    pub ci95: [f64; 2],
    /// Instructions per operation; needs a PMU.
    pub instructions: Option<f64>,
    /// Instructions per cycle; needs a PMU.
    pub ipc: Option<f64>,
    pub source: CycleSource,
}

/// A quantity measured in addition to the main one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    pub unit: String,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation.
    pub sd: f64,
    /// One value per kept sample.
    pub samples: Vec<f64>,
}

/// The metric of allocations an operation.
pub(crate) const ALLOCATIONS: &str = "allocations";
/// The metric of bytes allocated an operation.
pub(crate) const ALLOCATED: &str = "allocated";

/// A figure that the source of an experiment published.
#[derive(Clone, Copy, Debug)]
pub struct Published {
    /// Our variant that it corresponds to, if any.
    pub variant: Option<&'static str>,
    /// The source's name for it.
    pub what: &'static str,
    /// The figure, as printed by the source.
    pub figure: f64,
    pub unit: &'static str,
    pub machine: &'static str,
}
