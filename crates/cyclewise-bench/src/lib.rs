//! The instrument: times operations, says which variant is faster, and keeps what it measured in a record.
//!
//! Dependencies point down this list: [`runner`] measures with [`arch`], [`sys`] and [`machine`], judges with [`stats`] and fills a
//! [`record`]. Nothing here knows an experiment or a page.

#![deny(unsafe_code)]

#[macro_use]
mod words;

pub mod answer;
pub mod arch;
pub mod error;
pub mod export;
pub mod files;
pub mod machine;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
pub mod number;
pub mod record;
pub mod runner;
pub mod stats;
pub mod sys;
