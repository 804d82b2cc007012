//! Many machines: reads a folder of records, groups the machines by what they are, and finds those that are not like their group.
//!
//! # Reading
//! `walk` finds the files, `file` opens them, `gather` reads them on all cores, `resolve` decides which records count.
//! `inventory` keeps them in memory, their rows as the columns of `figures`; `join` keeps them in a file.
//!
//! # Analysis
//! `columns` gives the figures of records to their machines; `group` finds machines that are alike; `row` describes each column in each
//! group; `outliers` names the machines that are not like theirs, with their `evidence`; `differences` compares the groups;
//! `features` joins doctors' reports; `analyse` makes a report of all.

mod analyse;
mod columns;
mod differences;
mod evidence;
mod expected;
mod features;
mod figures;
mod file;
mod gather;
mod group;
mod headline;
pub(crate) mod input;
mod inventory;
mod join;
pub(crate) mod key;
#[cfg(test)]
mod made_up;
mod name;
mod outliers;
mod resolve;
mod row;
pub(crate) mod shards;
#[cfg(test)]
mod tests;
mod walk;
mod what;
mod words;

pub(crate) use analyse::{Settings, analyse, measured};
pub(crate) use inventory::read_figures;
#[cfg(test)]
pub(crate) use inventory::{Inventory, read};
pub(crate) use join::{Joined, join, without_checkup};
pub(crate) use what::is_sweep;
