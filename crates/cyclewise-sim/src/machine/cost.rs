//! Costs of instructions on a line that the core has.

use serde::{Deserialize, Serialize};

/// Costs, in core cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// A plain step that the next access depends on, such as compare and branch.
    pub alu_cycles: u32,
    /// A store.
    #[serde(default = "one")]
    pub store_cycles: u32,
    /// A read-modify-write; the line stays for its duration.
    pub rmw_cycles: u32,
    /// A compare-and-exchange, successful or not; the line stays for its duration.
    pub cas_cycles: u32,
    /// A load-exclusive or a store-exclusive.
    pub ll_sc_cycles: u32,
    /// PAUSE or YIELD.
    pub pause_cycles: u32,
    /// The directory's time for one request for a copy, before it serves the next.
    #[serde(default)]
    pub read_cycles: u32,
    /// Cost of each further copy when a line's copies are invalidated.
    #[serde(default)]
    pub invalidate_cycles: u32,
    /// The share, 0 to 1, by which a step's time varies uniformly either way; it keeps threads from running in lockstep.
    #[serde(default)]
    pub jitter: f64,
}

fn one() -> u32 {
    1
}
