//! What a fleet reads and writes: records, simulations, and plans.

pub mod plan;

pub(crate) use cyclewise_bench::record::*;
pub(crate) use cyclewise_sim::record as simulation;
