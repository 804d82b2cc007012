//! What needs threads.

mod mock;
mod upkeep;

pub use super::order::PerTask;
pub use {mock::Mock, upkeep::Upkeep};
