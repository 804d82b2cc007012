//! The lab: measures what hot paths cost on this machine, and says which variant is faster.

#![deny(unsafe_code)]
#![allow(missing_docs, reason = "where a name says what it is")]

#[cfg(test)]
#[macro_use]
extern crate cyclewise_bench;

pub mod arch;
pub mod command;
pub mod experiment;
pub mod export;
pub mod machine;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
#[cfg(test)]
mod names_in_reports;
pub mod record;
pub mod sys;
mod verify;

pub use cyclewise_bench::{error, runner, stats};
use cyclewise_report::{compare, limits};
