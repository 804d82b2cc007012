//! The calling thread's identity, by which locks and rseq areas name their holder, and the portable slot that it tries first.
//!
//! # Invariants
//! 1. A thread's id is its process's generation, which no ancestor of the process has, and its tid. No two threads of a process
//!    have the same id, and the id of a thread that a fork left behind in the parent is recognised in the child at any
//!    time, whatever fork handlers have run and whatever tids were reused.
//! 2. The token is the id at the thread's first use or at its last atfork handler. A thread that forks keeps its old token until
//!    the child's handler runs, so only that handler may take a lock from another holder by comparing tokens.

/// Whose an id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "without areas holders are not told apart")]
pub(super) enum Holder {
    /// The calling thread's.
    Me,
    /// Another thread's of this process.
    Another,
    /// A thread's that a fork left behind in an ancestor of this process.
    LeftBehind,
}

#[cfg_attr(
    not(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))),
    path = "no_identity.rs"
)]
mod identity;
#[cfg_attr(not(feature = "std"), path = "no_local.rs")]
mod local;

pub(super) use identity::*;
pub(super) use local::{prefer, preferred};
