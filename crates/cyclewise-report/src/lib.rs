//! From records to sentences, tables, pages and files; comparisons, limits and fleets. Measures nothing.

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "where a name says what it is")]

#[cfg(test)]
#[macro_use]
extern crate cyclewise_bench;

// Templates name its functions as those of other packages do, which include them.
extern crate self as cyclewise_report;

pub mod answer;
pub mod compare;
pub mod docs;
pub mod export;
pub mod files;
pub mod fleet;
pub mod limits;

pub use cyclewise_bench::number;
use cyclewise_bench::{error, record, stats, sys};
