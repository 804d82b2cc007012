//! Changing the program's own instructions while it runs: static keys and alternatives.
//!
//! - [`static_key!`](crate::static_key) declares a flag whose test is one NOP; changing it rewrites the tests.
//! - [`apply_alternatives`] puts in place, when the program starts, the sequences its CPU allows.
//!
//! Everything is checked before the first byte is written. What cannot be done is a
//! [`Refusal`](crate::error::Refusal), and leaves the text as it was.

mod alternative;
mod key;
mod lock;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) mod text;

pub use alternative::apply_alternatives;
pub use key::StaticKey;
