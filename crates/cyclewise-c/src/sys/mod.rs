//! What this crate needs of the C library itself.

pub(crate) mod callback;
mod cancellation;
pub(crate) mod errno;
pub(crate) mod stop;
