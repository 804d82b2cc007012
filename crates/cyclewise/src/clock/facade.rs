//! The atomics that the timeline sits on: the core's, or under `--cfg loom` those of the model checker.

#[cfg(not(loom))]
pub(super) use core::sync::atomic::{AtomicU64, fence};
#[cfg(loom)]
pub(super) use loom::sync::atomic::{AtomicU64, fence};
