//! `Arc` and `Weak`: std's types on counts that saturate, and whose LOCK prefixes can be patched away.
//!
//! An [`Arc`] can stand in for [`std::sync::Arc`](alloc::sync::Arc): the names, what they promise and the orderings are
//! std's. Its own documentation says what differs.
//!
//! # Memory ordering
//! Dropping a reference happens before the destruction of the value. `get_mut`, `make_mut`, `try_unwrap` and
//! `into_inner` that succeed happen after every drop of another reference. Counting a reference orders nothing else.
//! The proofs are in `count`.
//!
//! # Fork, signals and priorities
//! Nothing waits: an operation loops only where another thread has changed the count. So it may be done in a signal handler
//! (what frees or destroys asks that of the allocator and of the value), and in a child of fork, whatever its parent's threads
//! were doing; their references stay counted there. std's `downgrade` waits for a thread inside `get_mut`; this one does not.
//!
//! # Cost
//! `clone` and `drop` are one read-modify-write and one branch that is not taken. The pointer is the value's own
//! address, so `Deref` costs nothing and the counts are at a fixed distance before it.
//!
//! # References
//! `library/alloc/src/sync.rs` in rust-lang/rust for the protocol; rust-lang/rust#30031 and #108708 for its overflow.

mod convert;
mod count;
mod cyclic;
mod facade;
mod inner;
#[cfg(feature = "std")]
mod os;
mod raw;
mod shared;
mod slice;
mod traits;
mod unique;
mod unsize;
mod weak;
mod weak_count;

#[cfg(test)]
mod tests;

pub use shared::Arc;
pub use unique::CloneArc;
pub use unsize::Unsizing;
pub use weak::Weak;
