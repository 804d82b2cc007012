//! The runner's interface to a variant.

use crate::error::Result;
use crate::record::{TimedCommand, Variant};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One way of doing an operation, ready for repeated sampling.
pub trait Sampler {
    /// The name scripts use.
    fn name(&self) -> &str;

    /// Bytes of one operation's code, where known.
    fn code_bytes(&self) -> Option<u32> {
        None
    }

    /// The loops behind a sample; `None` if a sample is not a slope over copies.
    fn loops(&self) -> Option<Loops> {
        None
    }

    /// Takes one sample, in the experiment's unit.
    ///
    /// # Errors
    /// Only errors after which this variant cannot be sampled again: it drops out, and the others go on. Guards reject
    /// disturbed samples.
    fn sample(&mut self) -> Result<Sample>;

    /// Whether the error of the last sample makes the other variants' samples wrong, so that the measurement must end.
    fn spoils_the_others(&self) -> bool {
        false
    }

    /// The command that it is, with the status of each sample so far.
    fn timed(&self) -> Option<TimedCommand> {
        None
    }

    /// A note for the experiment, once every variant has its figures.
    fn finding(&self, _all: &[Variant]) -> Option<String> {
        None
    }
}

/// Other quantities of a sample: name, unit, value.
pub type Metrics = Vec<(Cow<'static, str>, Cow<'static, str>, f64)>;

pub fn metrics<const N: usize>(all: [(&'static str, &'static str, f64); N]) -> Metrics {
    all.map(|(name, unit, value)| (name.into(), unit.into(), value)).into()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The figure, in the experiment's unit.
    #[serde(deserialize_with = "number_or_nan")]
    pub value: f64,
    /// Other quantities of the same run. The same names in the same order in every sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "metrics_or_nan")]
    pub metrics: Metrics,
    /// Ticks of the loops of U, 2U and 4U copies, each the median of its batches; `None` if the sample is not a slope.
    pub batches: Option<[u64; 3]>,
    /// Ticks per iteration of the probe beside each batch, in the order of time; empty without a probe.
    #[serde(deserialize_with = "numbers_or_nan")]
    pub probes: Vec<f64>,
    /// The share of the sample's CPU time that the hypervisor or a quota took, of all CPUs that it may use; `None` if unknown.
    /// The runner sets it for samples that use the whole machine.
    pub stolen: Option<f64>,
    /// What was sampled failed, so that its figure is of something else: it is not kept.
    #[serde(default)]
    pub unsuccessful: bool,
}

fn metrics_or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Metrics, D::Error> {
    let all = Vec::<(Cow<'static, str>, Cow<'static, str>, Option<f64>)>::deserialize(from)?;
    let metric = |(name, unit, value): (_, _, Option<f64>)| (name, unit, value.unwrap_or(f64::NAN));
    Ok(all.into_iter().map(metric).collect())
}

fn numbers_or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Vec<f64>, D::Error> {
    let all = Vec::<Option<f64>>::deserialize(from)?;
    Ok(all.into_iter().map(|x| x.unwrap_or(f64::NAN)).collect())
}

/// What JSON has no number for is written as null.
fn number_or_nan<'de, D: serde::Deserializer<'de>>(from: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// The three loops behind a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loops {
    pub iterations: u64,
    /// Copies in one iteration: U, 2U, 4U; zeroes for the empty loop, which runs N, 2N and 4N iterations.
    pub copies: [u32; 3],
}

impl Sample {
    /// A sample with no other quantities.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }
}

/// Which disturbances spoil a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Samples run on this pinned thread alone: spoiled by preemption, migration, steal or a clock that jumps.
    ThisThread,
    /// Samples use any CPU and the scheduler: spoiled by steal or a clock that jumps.
    WholeMachine,
}

/// How the noise floor is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The subject with this index is sampled twice in every round.
    Repeat(usize),
    /// The rounds of the subject with this index are split into odd and even: for samples that cost seconds.
    Split(usize),
}

impl Default for Control {
    /// No second sampling: the first variant's rounds are split.
    fn default() -> Self {
        Self::Split(0)
    }
}
