//! AArch64: the bodies and stamps.

mod body;
pub mod counter;
pub mod entry;
mod place;
pub mod raw;
pub mod stamp;
pub mod words;

pub use place::place;
