//! The calling thread's identity, by which locks and rseq areas name their holder.
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

pub(super) use identity::*;

#[cfg(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod identity {
    use super::Holder;
    pub(in super::super) use crate::sys::fork_generation::current as fork_generation;
    use crate::sys::thread;
    use core::cell::Cell;
    use std::thread_local;

    thread_local! {
        static TOKEN: Cell<u64> = const { Cell::new(0) };
    }

    /// Keeps an id from being 0, even where a filter answers gettid(2) with 0.
    const NAMED: u64 = 1 << 63;

    /// The calling thread's id. A system call.
    pub(in super::super) fn id() -> u64 {
        NAMED | u64::from(fork_generation()) << 32 | u64::from(thread::id() as u32)
    }

    /// Whose id `found` is; `me` is the calling thread's.
    pub(in super::super) fn holder(found: u64, me: u64) -> Holder {
        match found {
            _ if found == me => Holder::Me,
            _ if found >> 32 == me >> 32 => Holder::Another,
            _ => Holder::LeftBehind,
        }
    }

    /// The number by which the calling thread locks portable slots, not 0. In a child of a fork it changes with `renew_token`.
    pub(in super::super) fn token() -> u64 {
        match TOKEN.get() {
            0 => new_token(),
            token => token,
        }
    }

    #[cold]
    fn new_token() -> u64 {
        let id = id();
        TOKEN.set(id);
        id
    }

    /// In the child of a fork: the thread's token so far, and its new one.
    pub(in super::super) fn renew_token() -> (u64, u64) {
        (TOKEN.get(), new_token())
    }
}

#[cfg(not(all(feature = "std", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod identity {
    use super::Holder;
    pub(in super::super) use token as id;

    /// A number of the calling thread, not 0.
    #[cfg(feature = "std")]
    pub(in super::super) fn token() -> u64 {
        std::thread_local! {
            static PLACE: u8 = const { 0 };
        }
        PLACE.with(|place| core::ptr::from_ref(place).addr()) as u64
    }

    /// Not 0. No code here needs to tell threads apart, since no atfork handler runs.
    #[cfg(not(feature = "std"))]
    pub(in super::super) fn token() -> u64 {
        1
    }

    /// Always another thread's: no handler interrupts a holder, and forks are not noticed.
    pub(in super::super) fn holder(_: u64, _: u64) -> Holder {
        Holder::Another
    }

    /// Forks are not noticed.
    pub(in super::super) fn fork_generation() -> u32 {
        0
    }
}
