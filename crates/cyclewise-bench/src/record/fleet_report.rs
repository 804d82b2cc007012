//! What a fleet's records say: the JSON schema `cyclewise.fleet-report/1`. Its table, page, CSV and metrics are made from it.
//!
//! Figures in ticks are converted to nanoseconds, because machines have different ticks.

use super::fleet::Problem;
use super::{Interval, Tool, Unit};
pub use crate::stats::{Component, Components};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.fleet-report/1";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that analysed it.
    pub tool: Tool,
    pub records: usize,
    /// The machines, in the order of their names.
    pub machines: Vec<MachineHead>,
    /// The groups, the largest first.
    pub groups: Vec<Group>,
    /// The spread of each row; the headline rows first.
    pub rows: Vec<RowSpread>,
    /// Machines that are not like their group, the farthest first.
    #[serde(default)]
    pub unlike: Vec<UnlikeMachine>,
    /// Their rows that are far by themselves.
    pub outliers: Vec<Outlier>,
    /// What the outliers were looked for in, and the rate of false ones.
    pub search: Search,
    /// What differs between groups.
    pub differences: Vec<Difference>,
    /// The pairs of groups that were compared, those that differ in the fewest facts first.
    pub pairs: Vec<Pair>,
    #[serde(default)]
    pub verified: Vec<Verified>,
    /// What the doctors' reports say of the nodes: one entry a feature.
    pub features: Vec<Feature>,
    /// Files that were left out, and what is missing.
    pub problems: Vec<Problem>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineHead {
    /// Its node's name; of a record without one, the file's.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    pub files: Vec<String>,
    pub runs: usize,
    /// The share of CPU time that the hypervisor took, if known.
    pub steal: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// A letter, then two: `A`, `B`, … `AA`.
    pub name: String,
    /// What its machines have in common: the fact's name and its value, in a fixed order.
    pub facts: Vec<(String, String)>,
    /// The facts in which the groups of this fleet differ, in a few words.
    pub label: String,
    pub machines: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowSpread {
    pub experiment: String,
    pub variant: String,
    pub unit: Unit,
    /// Whether it is its experiment's headline.
    pub headline: bool,
    pub machines: usize,
    /// Least and greatest value of the strip; bins and dots are between them, on a logarithmic scale.
    pub range: [f64; 2],
    pub groups: Vec<GroupSpread>,
    /// Where the spread comes from; `None` with fewer than two machines.
    pub components: Option<Components>,
    /// The value of each machine that has the row, in the order of the machines. The CSV has them all; the JSON has those of at
    /// most [`MOST_VALUES`] machines.
    #[serde(default, skip_serializing_if = "too_many")]
    pub values: Vec<MachineValue>,
    /// How far each of `values` is from its group, in the same order; empty if the row was not tested.
    #[serde(default, skip_serializing_if = "too_many")]
    pub distances: Vec<Distance>,
}

/// A row of more machines has no values in the JSON.
pub const MOST_VALUES: usize = 100;

fn too_many<T>(values: &[T]) -> bool {
    values.is_empty() || values.len() > MOST_VALUES
}

/// One machine's value of a row. A fleet has millions of them, so they are small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineValue {
    /// Index of the machine.
    pub machine: u32,
    pub runs: u32,
    /// Samples kept in all of them.
    pub n: u32,
    /// The value, in the unit of the row.
    pub value: f64,
    /// Its 95 % interval; NaN, in the JSON `null`, where a bound is not known.
    #[serde(deserialize_with = "nullable::both")]
    pub ci95: [f64; 2],
}

/// How far a machine's value is from its group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// In standard deviations of the group, with a sign. NaN, in the JSON `null`, if the group is too small to say it.
    #[serde(deserialize_with = "nullable::one")]
    pub sigmas: f64,
    /// Two-sided p.
    #[serde(deserialize_with = "nullable::one")]
    pub p: f64,
    /// The least false discovery rate at which the machine would be named.
    #[serde(deserialize_with = "nullable::one")]
    pub q: f64,
}

/// JSON has no NaN: `serde_json` writes it as `null`, and these read that back.
mod nullable {
    use serde::{Deserialize, Deserializer};

    pub(super) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    }

    pub(super) fn both<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
        Ok(<[Option<f64>; 2]>::deserialize(from)?.map(|n| n.unwrap_or(f64::NAN)))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSpread {
    /// Index of the group.
    pub group: usize,
    pub machines: usize,
    /// The median over machines.
    pub median: f64,
    pub ci95: Interval,
    /// The robust spread between machines, as a share of the median: 0.01 is 1 %. `None` with fewer than three machines.
    pub spread: Option<f64>,
    /// The quantiles 0.05, 0.25, 0.75 and 0.95 over machines.
    pub quantiles: [f64; 4],
    /// How many machines are in each bin of the row's range.
    pub bins: Vec<u32>,
}

/// A machine that is not like its group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnlikeMachine {
    /// Index of the machine.
    pub machine: usize,
    pub slower: bool,
    /// What its rows say together, if that is enough to name it.
    pub together: Option<Together>,
    pub sentence: String,
}

/// What the rows of one machine say together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Together {
    /// The rows that speak, each an experiment, a variant and the value over the median of the group; the farthest first.
    pub rows: Vec<(String, String, f64)>,
    /// How many standard deviations its statistic is above those of the other machines.
    pub sigmas: f64,
    /// One-sided p.
    pub p: f64,
    /// The false discovery rate at which it is named.
    pub q: f64,
}

/// A row of a machine that is not like its group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Index of the machine.
    pub machine: usize,
    pub experiment: String,
    pub variant: String,
    /// The unit of the row: a variant may have a row in each of two.
    pub unit: Unit,
    /// Its value, in the unit of the row.
    pub value: f64,
    /// The value over the group's median.
    pub ratio: f64,
    /// How many standard deviations of its group it is away, with its sign.
    pub sigmas: f64,
    /// Two-sided p.
    pub p: f64,
    /// The false discovery rate at which it is named.
    pub q: f64,
    /// Runs that are on that side of the group, beyond its spread.
    pub runs_beyond: usize,
    pub runs: usize,
    /// What else is known of the machine, in a few words each: `steal 11 %`.
    pub evidence: Vec<String>,
    pub sentence: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Machines times rows that were tested.
    pub tests: usize,
    /// Machines whose rows were tested together.
    #[serde(default)]
    pub together: usize,
    /// Machines in groups too small to say who is unlike.
    pub untested_machines: usize,
    /// The false discovery rate that is held over all of them.
    pub rate: f64,
}

/// A row in which two groups differ.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Indices of the groups; the second is compared with the first.
    pub groups: [usize; 2],
    pub facts: Vec<String>,
    pub experiment: String,
    pub variant: String,
    /// The second group's value over the first's.
    pub ratio: f64,
    pub ci95: Interval,
    /// The false discovery rate at which it is named.
    pub q: f64,
    pub sentence: String,
}

/// Two groups that were compared in all headline rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Indices of the groups; the second is compared with the first.
    pub groups: [usize; 2],
    pub facts: Vec<String>,
    /// Rows that differ: each is a [`Difference`].
    pub differ: usize,
    /// Rows that are known to be within the margin below which a difference does not matter.
    pub within: usize,
    /// Rows of which neither is known.
    pub undecided: usize,
    pub sentence: String,
}

/// One part's promises over the nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    /// The part, as `cyclewise verify` takes it.
    pub what: String,
    pub nodes: usize,
    /// Promises that broke, by node.
    pub broken: Vec<SeenPromise>,
    /// Promises that were not shown, by node.
    pub not_shown: Vec<SeenPromise>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenPromise {
    pub node: String,
    pub name: String,
    pub seen: String,
    pub file: String,
}

/// A line of the doctors' reports over the nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// The line's name.
    pub name: String,
    /// Nodes by status: `ok`, `limited`, `absent`, `unknown`.
    pub counts: Vec<(String, usize)>,
    /// Nodes whose status is not that of most, each with its status and value; at most 100.
    pub unlike: Vec<(String, String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(machines: u32) -> RowSpread {
        let value = |machine| MachineValue {
            machine,
            value: 1.5,
            ci95: [1.25, f64::NAN],
            ..MachineValue::default()
        };
        RowSpread {
            values: (0..machines).map(value).collect(),
            ..RowSpread::default()
        }
    }

    #[test]
    fn the_values_of_a_small_fleet_are_in_the_json_and_read_back() {
        let text = serde_json::to_string(&row(2)).unwrap();
        assert_says!(text, r#""ci95":[1.25,null]"#);
        let back: RowSpread = serde_json::from_str(&text).unwrap();
        assert_eq!((back.values[1].machine, back.values[1].ci95[0]), (1, 1.25));
        assert!(back.values[1].ci95[1].is_nan());
    }

    #[test]
    fn those_of_a_large_one_are_not() {
        let has = |machines| serde_json::to_string(&row(machines)).unwrap().contains("values");
        assert!(has(MOST_VALUES as u32) && !has(MOST_VALUES as u32 + 1));
    }
}
