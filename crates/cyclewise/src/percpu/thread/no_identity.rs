//! The counterpart where forks are not noticed: a thread is where its thread-local words are.

use super::Holder;
pub(in crate::percpu) use super::local::{number as id, number as token};

/// Always another thread's: no handler interrupts a holder, and forks are not noticed.
pub(in crate::percpu) fn holder(_: u64, _: u64) -> Holder {
    Holder::Another
}

/// Forks are not noticed.
pub(in crate::percpu) fn fork_generation() -> u32 {
    0
}
