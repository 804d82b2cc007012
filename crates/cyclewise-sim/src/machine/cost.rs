//! What instructions cost on a line that the core has.

use serde::{Deserialize, Serialize};

/// Costs, in cycles of the core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// A plain step that the next depends on: compare and branch between two accesses.
    pub alu_cycles: u32,
    /// A store.
    #[serde(default = "one")]
    pub store_cycles: u32,
    /// A read-modify-write, for which the line stays.
    pub rmw_cycles: u32,
    /// A compare-and-exchange, for which the line stays, also where it fails.
    pub cas_cycles: u32,
    /// A load-exclusive, and a store-exclusive.
    pub ll_sc_cycles: u32,
    /// PAUSE or YIELD.
    pub pause_cycles: u32,
    /// What the directory takes for one request for a copy; the next is served after that.
    #[serde(default)]
    pub read_cycles: u32,
    /// What one more copy costs when a line's copies are taken back.
    #[serde(default)]
    pub invalidate_cycles: u32,
    /// The share by which a step's time varies either way, 0 to 1, evenly: what keeps threads from running in step.
    #[serde(default)]
    pub jitter: f64,
}

fn one() -> u32 {
    1
}
