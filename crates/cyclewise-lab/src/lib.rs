//! The lab: measures what hot paths cost on this machine, and says which variant is faster.

#![deny(unsafe_code)]

mod answer;
pub mod arch;
pub mod command;
mod compare;
pub mod experiment;
pub mod export;
mod fleet;
mod limits;
pub mod machine;
#[cfg(test)]
#[path = "../../../fuzz/mangle.rs"]
mod mangle;
#[cfg(test)]
mod mangled;
mod number;
pub mod record;
pub mod sampling;
pub mod simulate;
pub mod sys;
mod verify;

pub use cyclewise_bench::{error, runner, stats};
