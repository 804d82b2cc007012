//! AArch64: the generic timer's counter, and the block of a thread. Everything else is `portable`'s for now; see the parent.

#[cfg(all(feature = "std", target_env = "gnu"))]
mod thread_block;
#[cfg(not(loom))]
pub(crate) mod ticks;

#[cfg(all(feature = "std", target_env = "gnu"))]
pub(crate) use thread_block::thread_block;
