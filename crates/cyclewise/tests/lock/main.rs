//! The lock's public interface.

mod api;
#[path = "../common/bounds.rs"]
mod bounded;
mod bounds;
mod panics;
mod public;
