//! What this crate needs of the C library itself.

pub(crate) mod errno;
