//! x86-64: the bodies and stamps.

mod body;
pub mod counter;
pub mod entry;
pub mod lock_prefix;
pub mod patch_sites;
pub mod plain;
pub mod popf;
mod program_counter;
pub mod raw;
pub mod stamp;
pub mod words;

pub use program_counter::program_counter;
