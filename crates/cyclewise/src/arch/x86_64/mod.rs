//! x86-64: sites, the store that patches them, and the instruction that makes a core forget what it fetched.

pub mod alternative;
pub(crate) mod code;
pub mod counter;
pub mod key;
pub(crate) mod lock;
pub(crate) mod sync;
