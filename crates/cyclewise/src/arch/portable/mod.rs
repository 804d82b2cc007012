//! The twin without assembly: a key is an atomic flag, an alternative is its default, and no text is written.

pub mod alternative;
pub mod key;
pub(crate) mod lock;
