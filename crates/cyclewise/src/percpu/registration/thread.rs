//! What a thread is known by, and which portable slot it had last.
//!
//! # Invariants
//! 1. A thread's name is its process's generation, which no ancestor of the process has, and its id there. So no two threads of a
//!    process have one name, and what a thread of another process left behind in this one is told by its name, whenever that is
//!    looked at, whichever fork handlers have run, and whatever ids have come round.
//! 2. The token is the name as it was when the thread first asked, or was told of a fork. Who forks has an old one until its child's
//!    handler runs: so only that handler may take from others what it finds by tokens.

use super::super::slots::PORTABLE;
use crate::sys::{fork_generation, task};
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::thread_local;

thread_local! {
    static PREFERRED: Cell<usize> = const { Cell::new(usize::MAX) };
    static TOKEN: Cell<u64> = const { Cell::new(0) };
}

/// Not 0, whatever a filter says in place of ids.
const NAMED: u64 = 1 << 63;

/// The calling thread's name: a system call.
pub(in super::super) fn name() -> u64 {
    NAMED | process() | u64::from(task::current_tid() as u32)
}

fn process() -> u64 {
    u64::from(fork_generation::current()) << 32
}

/// Whom a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Holder {
    /// The one who asks.
    Me,
    /// Another thread of this process.
    Another,
    /// One of the process that this one was forked from, which this one does not have.
    LeftBehind,
}

/// Whom `found` is of; `me` is the calling thread's name.
pub(in super::super) fn holder(found: u64, me: u64) -> Holder {
    match found {
        _ if found == me => Holder::Me,
        _ if found >> 32 == me >> 32 => Holder::Another,
        _ => Holder::LeftBehind,
    }
}

/// What the calling thread takes portable slots by, not 0: the same in a child of a fork until `renew`.
pub(in super::super) fn token() -> u64 {
    match TOKEN.get() {
        0 => new_token(),
        token => token,
    }
}

#[cold]
fn new_token() -> u64 {
    let name = name();
    TOKEN.set(name);
    name
}

/// In the child of a fork: the token that the thread had, and its new one.
pub(in super::super) fn renew() -> (u64, u64) {
    (TOKEN.get(), new_token())
}

/// The portable slot that the calling thread had last.
pub(in super::super) fn preferred() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    match PREFERRED.get() {
        usize::MAX => {
            // Relaxed: any order of threads will do.
            let n = NEXT.fetch_add(1, Ordering::Relaxed) % PORTABLE;
            prefer(n);
            n
        }
        n => n,
    }
}

/// Sets that.
pub(in super::super) fn prefer(slot: usize) {
    PREFERRED.set(slot);
}
