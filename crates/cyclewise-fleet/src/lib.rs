//! Fleets: plans what many machines do, joins what they wrote, and reports on the machines. The analysis is `cyclewise-report`'s.
#![cfg_attr(not(test), forbid(unsafe_code))]

#[cfg(test)]
#[macro_use]
extern crate cyclewise_bench;

pub mod command;
mod export;
mod files;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
pub mod record;

use cyclewise_bench::{error, machine};
use cyclewise_report::fleet;
