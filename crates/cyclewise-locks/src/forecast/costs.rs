//! What operations cost on this machine.

use serde::{Deserialize, Serialize};

/// What operations cost on this machine: the matrix of the lab's experiment `in-context`, without its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Where it was measured: the CPU's name.
    pub cpu: String,
    /// Nanoseconds a tick.
    pub tick_ns: f64,
    /// The columns.
    pub surroundings: Vec<Surroundings>,
    /// The rows.
    pub operations: Vec<OperationCost>,
}

/// The code around an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Its name in the matrix: `adds-30`.
    pub name: String,
    /// Ticks of one repetition alone.
    pub own_ticks: f64,
}

/// What an operation adds to surroundings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationCost {
    /// Its name in the matrix: `lock-inc64`.
    pub name: String,
    /// Ticks that it adds to each of the surroundings, and the 95 % interval; none where the cell cannot tell.
    pub added: Vec<Option<Ticks>>,
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ticks {
    pub ticks: f64,
    pub ci95: [f64; 2],
}
