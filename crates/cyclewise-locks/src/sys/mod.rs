//! The kernel's calls that this package makes, each with its own types.

pub(crate) mod signals;
