//! AArch64.

pub(crate) mod operations;
pub(crate) mod surroundings;
