//! x86-64: sites, the store that patches them, the instruction that makes a core forget what it fetched, and the time
//! stamp counter.

pub mod alternative;
pub mod choice;
pub(crate) mod code;
pub mod counter;
#[cfg(not(loom))]
mod displaced;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod gs;
pub(crate) mod key;
pub(crate) mod lock;
#[cfg(not(loom))]
mod rmw;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_cells;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_list;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_set;
#[cfg(not(loom))]
mod site;
pub(crate) mod sync;
#[cfg(not(loom))]
mod table;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod thread_block;
pub(crate) mod ticks;
mod valgrind;

#[cfg(not(loom))]
pub(crate) use displaced::{dec_negative_at, inc_negative_at};
#[cfg(not(loom))]
pub(crate) use table::{Record, records};

#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) use thread_block::thread_block;

/// There are LOCK prefixes to patch.
#[cfg(not(loom))]
pub(crate) const HAS_SITES: bool = true;
