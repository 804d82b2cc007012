//! AArch64: the bodies and stamps.

pub mod counter;
pub(crate) mod exclusive;
pub(crate) mod raw;
pub(crate) mod store;
pub(crate) mod wait;
pub(crate) mod width;
pub(crate) mod words;
