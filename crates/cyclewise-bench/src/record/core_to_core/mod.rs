//! The pairs of CPUs in a record of `core-to-core`: as a matrix, by the kernel's distances, and by the levels that the times show.

#[cfg(feature = "commands")]
pub mod levels;
#[cfg(feature = "commands")]
mod matrix;
mod pair;

#[cfg(feature = "commands")]
pub use matrix::{Matrix, Span, is_pair, spans};
pub use pair::{Distance, Pair};

/// The name of the experiment in records.
pub const NAME: &str = "core-to-core";
