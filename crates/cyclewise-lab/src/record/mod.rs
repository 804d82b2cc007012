//! The record, and what other commands write.

pub mod plan;
pub mod simulation;

pub use cyclewise_bench::record::*;
