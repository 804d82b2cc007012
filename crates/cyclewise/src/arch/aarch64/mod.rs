//! AArch64: the generic timer's counter, the block of a thread, restartable sequences. Everything else is `portable`'s for
//! now, for the reason that `arch` gives.

#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_cells;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_list;
#[cfg(all(feature = "std", not(loom)))]
pub(crate) mod rseq_set;
#[cfg(all(feature = "std", target_env = "gnu"))]
mod thread_block;
#[cfg(not(loom))]
pub(crate) mod ticks;

#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) use thread_block::thread_block;
