//! x86-64: the bodies and stamps.

mod body;
pub mod counter;
pub mod entry;
pub mod field;
pub mod lock_prefix;
mod place;
pub mod plain;
pub mod popf;
pub mod raw;
pub mod stamp;
pub mod words;

pub use place::place;
