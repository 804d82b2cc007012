//! The parts of a record that a fleet keeps, read without the rest.
//!
//! Samples are counted and not kept, and fields that a [`Member`](super::Member) does not use are skipped, so the memory that a
//! record takes is at most that of its text twice, whatever the text holds. What is read is held to the rules of
//! [`record::load`](crate::record::load()); a field that is skipped is held to JSON's grammar.

use crate::record::{BetweenRuns, Figure, Linearity, Machine, Missing, Tool, Unit, Variant};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// A record's text, skimmed.
#[derive(Deserialize)]
pub(super) struct Skim {
    pub(super) schema: String,
    pub(super) created: String,
    pub(super) tool: Tool,
    pub(super) seed: u64,
    #[serde(default)]
    pub(super) command: Vec<String>,
    pub(super) machine: Machine,
    pub(super) experiments: Vec<SkimExperiment>,
    #[serde(default)]
    pub(super) missing: Vec<Missing>,
    #[serde(default)]
    pub(super) runs: Vec<SkimRun>,
}

#[derive(Deserialize)]
pub(super) struct SkimExperiment {
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) variants: Vec<SkimVariant>,
    pub(super) comparisons: Vec<Sides>,
}

/// The names of a comparison.
#[derive(Deserialize)]
pub(super) struct Sides {
    pub(super) a: String,
    pub(super) b: String,
}

#[derive(Deserialize)]
pub(super) struct SkimVariant {
    pub(super) name: String,
    pub(super) n: usize,
    pub(super) mean: f64,
    pub(super) sd: f64,
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) samples: Count,
    #[serde(default)]
    headline: Option<Figure>,
    #[serde(default)]
    linearity: Option<Linearity>,
    #[serde(default)]
    between: Option<BetweenRuns>,
}

impl SkimVariant {
    /// The variant without its samples, for the rules by which a record is read.
    pub(super) fn without_samples(self) -> Variant {
        Variant {
            name: self.name,
            n: self.n,
            mean: self.mean,
            sd: self.sd,
            median: self.median,
            min: self.min,
            headline: self.headline,
            linearity: self.linearity,
            between: self.between,
            ..Variant::default()
        }
    }
}

#[derive(Deserialize)]
pub(super) struct SkimRun {
    pub(super) seed: u64,
    pub(super) medians: Vec<(String, String, f64)>,
}

/// The number of samples of an array, each of which is a number that a double can hold.
pub(super) struct Count(pub(super) usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counting)
    }
}

struct Counting;

impl<'de> Visitor<'de> for Counting {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut samples: A) -> Result<Count, A::Error> {
        let mut count = 0;
        while samples.next_element::<f64>()?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }
}
