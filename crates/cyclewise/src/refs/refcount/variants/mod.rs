//! What [`Refcount`](super::Refcount) is measured against. Not for use.

mod cas_full;
mod unchecked;

pub use cas_full::{CasFull, CasFull64};
pub use unchecked::{Unchecked, Unchecked64};
