//! What a fleet reads and writes: records and plans.

pub mod plan;

pub(crate) use cyclewise_bench::record::*;
