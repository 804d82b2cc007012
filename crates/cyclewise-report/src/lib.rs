//! From records to sentences, tables, pages and files; comparisons, limits and fleets. Measures nothing.

#![forbid(unsafe_code)]

pub mod answer;
pub mod compare;
pub mod docs;
pub mod export;
pub mod files;
pub mod fleet;
pub mod limits;

pub use cyclewise_bench::number;
use cyclewise_bench::{error, record, stats, sys};
