//! AArch64: the bodies and stamps.

mod body;
pub mod counter;
pub mod entry;
pub mod exclusive;
pub(crate) mod probe;
mod program_counter;
pub mod raw;
pub mod stamp;
pub(crate) mod store;
pub(crate) mod wait;
pub(crate) mod width;
pub mod words;

pub use program_counter::program_counter;
