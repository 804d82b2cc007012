//! The record, and what other commands write.

pub use cyclewise_bench::record::*;
