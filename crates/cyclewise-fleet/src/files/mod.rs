//! Reads a folder of records, or of shards.
//!
//! `walk` finds the files, `file` opens them, `gather` reads them on all cores, `resolve` decides which records count.
//! `inventory` keeps them in memory, their rows as the columns of `figures`; `join` keeps them in a file. `shards` surveys and merges the shards
//! of a simulation.

mod expected;
mod file;
mod gather;
pub(crate) mod input;
mod inventory;
mod join;
pub(crate) mod key;
mod name;
mod resolve;
pub(crate) mod shards;
#[cfg(test)]
mod tests;
mod walk;
mod what;

pub(crate) use inventory::read_figures;
#[cfg(test)]
pub(crate) use inventory::{Inventory, read};
pub(crate) use join::{Joined, join, without_checkup};
pub(crate) use what::is_sweep;
