//! The lock's public interface.

mod api;
mod panics;
mod public;
