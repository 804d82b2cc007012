//! AArch64: the bodies and stamps.

#[macro_use]
mod body;
pub mod entry;
mod program_counter;
pub mod stamp;

pub use program_counter::program_counter;
