//! x86-64: the bodies and stamps.

mod body;
pub mod counter;
pub mod entry;
pub mod lock_prefix;
pub(crate) mod patch_sites;
pub(crate) mod plain;
pub mod popf;
pub(crate) mod probe;
mod program_counter;
pub(crate) mod raw;
pub mod stamp;
pub(crate) mod store;
pub(crate) mod wait;
pub(crate) mod width;
pub(crate) mod words;

pub(crate) use program_counter::program_counter;
