//! The pairs of CPUs in a record of `core-to-core`: as a matrix, by the kernel's distances, and by the levels that the times show.

pub mod levels;
mod matrix;
mod pair;

pub use matrix::{Matrix, Span, is_pair, spans};
pub use pair::{Distance, Pair};

/// The name of the experiment in records.
pub const NAME: &str = "core-to-core";
