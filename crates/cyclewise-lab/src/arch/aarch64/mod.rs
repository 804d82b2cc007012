//! AArch64: the bodies and stamps.

pub mod counter;
pub mod exclusive;
pub mod raw;
pub(crate) mod store;
pub(crate) mod wait;
pub(crate) mod width;
pub mod words;
