//! A thread's id by its process's generation and its tid.

use super::Holder;
pub(in crate::percpu) use crate::sys::fork_generation::current as fork_generation;
use crate::sys::thread;
use core::cell::Cell;
use std::thread_local;

thread_local! {
    static TOKEN: Cell<u64> = const { Cell::new(0) };
}

/// Keeps an id from being 0, even where a filter answers gettid(2) with 0.
const NAMED: u64 = 1 << 63;

/// The calling thread's id. A system call.
pub(in crate::percpu) fn id() -> u64 {
    NAMED | u64::from(fork_generation()) << 32 | u64::from(thread::id() as u32)
}

/// Whose id `found` is; `me` is the calling thread's.
pub(in crate::percpu) fn holder(found: u64, me: u64) -> Holder {
    match found {
        _ if found == me => Holder::Me,
        _ if found >> 32 == me >> 32 => Holder::Another,
        _ => Holder::LeftBehind,
    }
}

/// The number by which the calling thread locks portable slots, not 0. In a child of a fork it changes with `renew_token`.
pub(in crate::percpu) fn token() -> u64 {
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
pub(in crate::percpu) fn renew_token() -> (u64, u64) {
    (TOKEN.get(), new_token())
}
