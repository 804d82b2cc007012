//! The record, and what other commands write.

pub mod plan;

pub use cyclewise_bench::record::*;
pub use cyclewise_sim::record as simulation;
