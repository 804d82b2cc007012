//! x86-64: the bodies and stamps.

pub mod counter;
pub mod lock_prefix;
pub(crate) mod patch_sites;
pub(crate) mod plain;
pub mod popf;
pub(crate) mod raw;
pub(crate) mod store;
pub(crate) mod wait;
pub(crate) mod width;
pub(crate) mod words;
