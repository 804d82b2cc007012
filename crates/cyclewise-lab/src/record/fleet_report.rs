//! What a fleet's records say: the JSON schema `cyclewise.fleet-report/1`. Its table, page, CSV and metrics are made from it.
//!
//! Figures in ticks are converted to nanoseconds, because machines have different ticks.

use super::fleet::Problem;
use super::{Interval, Tool, Unit};
use serde::{Deserialize, Serialize};

/// The schema this build writes.
pub const SCHEMA: &str = "cyclewise.fleet-report/1";

/// A fleet, analysed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FleetReport {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The program that analysed it.
    pub tool: Tool,
    /// Records that were read.
    pub records: usize,
    /// The machines, in the order of their names.
    pub machines: Vec<MachineHead>,
    /// The groups, the largest first.
    pub groups: Vec<Group>,
    /// The spread of each row; the headline rows first.
    pub rows: Vec<RowSpread>,
    /// Machines that are not like their group.
    pub outliers: Vec<Outlier>,
    /// What the outliers were looked for in, and the rate of false ones.
    pub search: Search,
    /// What differs between groups.
    pub differences: Vec<Difference>,
    /// What the doctors' reports say of the nodes: one entry a feature.
    pub features: Vec<Feature>,
    /// Files that were left out, and what is missing.
    pub problems: Vec<Problem>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// A machine of the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineHead {
    /// Its node's name; of a record without one, the file's.
    pub name: String,
    /// Index of its group.
    pub group: usize,
    /// Its records, by their files.
    pub files: Vec<String>,
    /// Runs in all of them.
    pub runs: usize,
    /// The share of CPU time that the hypervisor took, if known.
    pub steal: Option<f64>,
}

/// Machines that are alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// A letter, then two: `A`, `B`, … `AA`.
    pub name: String,
    /// What its machines have in common: the fact's name and its value, in a fixed order.
    pub facts: Vec<(String, String)>,
    /// The facts in which the groups of this fleet differ, in a few words.
    pub label: String,
    /// The number of machines.
    pub machines: usize,
}

/// One row over the fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowSpread {
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// The unit of the values.
    pub unit: Unit,
    /// Whether it is its experiment's headline.
    pub headline: bool,
    /// Machines that have it.
    pub machines: usize,
    /// Least and greatest value of the strip; bins and dots are between them, on a logarithmic scale.
    pub range: [f64; 2],
    /// The groups that have it.
    pub groups: Vec<GroupSpread>,
    /// Where the spread comes from; `None` with fewer than two machines.
    pub components: Option<Components>,
}

/// One row in one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupSpread {
    /// Index of the group.
    pub group: usize,
    /// Machines that have the row.
    pub machines: usize,
    /// The median over machines.
    pub median: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
    /// The robust spread between machines, as a share of the median: 0.01 is 1 %. `None` with fewer than three machines.
    pub spread: Option<f64>,
    /// The quantiles 0.05, 0.25, 0.75 and 0.95 over machines.
    pub quantiles: [f64; 4],
    /// How many machines are in each bin of the row's range.
    pub bins: Vec<u32>,
}

/// Where the spread of a row comes from, each as the standard deviation of the logarithm: about a share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Components {
    /// Between groups; `None` with one group.
    pub between_groups: Option<Component>,
    /// Between machines of a group.
    pub between_machines: Option<Component>,
    /// Between runs of a machine; `None` if no machine has two.
    pub between_runs: Option<Component>,
}

/// One component of the spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// The standard deviation.
    pub sd: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
}

/// A row of a machine that is not like its group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// Index of the machine.
    pub machine: usize,
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
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
    /// Runs.
    pub runs: usize,
    /// What else is known of the machine, in a few words each: `steal 11 %`.
    pub evidence: Vec<String>,
    /// The whole in one sentence.
    pub sentence: String,
}

/// What the outliers were looked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Machines times rows that were tested.
    pub tests: usize,
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
    /// The facts that differ.
    pub facts: Vec<String>,
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// The second group's value over the first's.
    pub ratio: f64,
    /// Its 95 % interval.
    pub ci95: Interval,
    /// The false discovery rate at which it is named.
    pub q: f64,
    /// The whole in one sentence.
    pub sentence: String,
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
