//! What this crate needs of the C library itself.

pub(crate) mod callback;
pub(crate) mod errno;
pub(crate) mod stop;
