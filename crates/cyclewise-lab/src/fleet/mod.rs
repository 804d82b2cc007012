//! Many machines: reads a folder of records, groups the machines by what they are, and finds those that are not like their group.
//!
//! # Reading
//! `walk` finds the files, `file` opens them, `gather` reads them on all cores, `resolve` decides which records count.

mod expected;
mod file;
mod gather;
mod inventory;
mod key;
mod name;
mod resolve;
pub(crate) mod shards;
#[cfg(test)]
mod tests;
mod walk;

pub use inventory::{Inventory, read};
