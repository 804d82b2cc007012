//! Many machines: reads a folder of records, groups the machines by what they are, and finds those that are not like their group.
//!
//! # Reading
//! `walk` finds the files, `file` opens them, `gather` reads them on all cores, `resolve` decides which records count.
//! `inventory` keeps them in memory, their rows as the columns of `figures`; `join` keeps them in a file.
//!
//! The analysis is `cyclewise-report`'s.

mod expected;
mod file;
mod gather;
pub(crate) mod input;
mod inventory;
mod join;
pub(crate) mod key;
#[cfg(test)]
mod made_up;
mod name;
mod resolve;
pub(crate) mod shards;
#[cfg(test)]
mod tests;
mod walk;
mod what;

pub(crate) use cyclewise_report::fleet::*;
pub(crate) use inventory::read_figures;
#[cfg(test)]
pub(crate) use inventory::{Inventory, read};
pub(crate) use join::{Joined, join, without_checkup};
pub(crate) use what::is_sweep;
