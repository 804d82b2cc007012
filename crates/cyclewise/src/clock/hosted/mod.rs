//! What needs threads.

mod mock;
pub(super) mod per_task;
mod upkeep;

pub use {mock::Mock, per_task::PerTask, upkeep::Upkeep};
