//! A lock in one word that survives fork: its owner can be told from a thread that exists only in the parent process.
//!
//! No atfork handler takes or releases it, so a fork never waits for it, and foreign atfork handlers may take it in any
//! order. A child that finds it owned by a thread that it does not have takes it over.
//!
//! # States
//! 0: free. Else the owner: the process's generation (`sys::fork_generation`) in the upper half, and the C library's id
//! of the thread in the lower. The id is the same in a child that the thread forks.
//!
//! # Invariants
//! 1. Only its owner frees the word. A taker changes it only from 0, or from an owner of another generation, which
//!    exists only in the parent.
//! 2. A thread that forks while it is the owner, from a signal handler inside the section, is the owner in the child
//!    too.
//!
//! # Memory ordering
//! Acquire when taken, Release when freed.
//!
//! # Waiting
//! Waiters sleep: sections are short and rare, and the owner may be a thread of lower priority on the same CPU.

use crate::error::Refusal;
use crate::sys::thread;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// The owner that a taker replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PreviousOwner {
    /// None: the word was free.
    None,
    /// A thread that exists only in the parent, in the middle of its section.
    LostInFork,
}

/// Takes the lock for the calling thread, in the process of this generation.
///
/// # Errors
/// [`Refusal::Busy`] where the calling thread is the owner: the call comes from a signal handler inside the section.
pub(super) fn acquire(word: &AtomicU64, process: u32) -> Result<PreviousOwner, Refusal> {
    loop {
        if let Some(from) = acquire_while(word, process, || true)? {
            return Ok(from);
        }
    }
}

/// The same, but gives up and returns `None` if the lock is taken and `wanted` returns false.
pub(super) fn acquire_while(
    word: &AtomicU64,
    process: u32,
    wanted: impl Fn() -> bool,
) -> Result<Option<PreviousOwner>, Refusal> {
    let found = replace_while(word, process, wanted)?;
    Ok(found.map(|found| match found {
        0 => PreviousOwner::None,
        _ => PreviousOwner::LostInFork,
    }))
}

/// The same for a lock that belongs to another copy of this crate, and gives the owner that it replaced: 0, or one that exists
/// only in the parent. That copy has to find it again, so [`put_back`] releases the lock.
pub(super) fn replace_while(word: &AtomicU64, process: u32, wanted: impl Fn() -> bool) -> Result<Option<u64>, Refusal> {
    let me = me(process);
    let mut found = word.load(Relaxed);
    loop {
        match found {
            0 => {}
            _ if is_mine(found, me) => return Err(Refusal::Busy),
            _ if generation(found) != generation(me) => {}
            _ if !wanted() => return Ok(None),
            _ => {
                thread::nap();
                found = word.load(Relaxed);
                continue;
            }
        }
        // Acquire: pairs with the Release in `put_back`.
        match word.compare_exchange_weak(found, me, Acquire, Relaxed) {
            Ok(_) => return Ok(Some(found)),
            Err(now) => found = now,
        }
    }
}

/// Releases a lock that the calling thread owns.
pub(super) fn release(word: &AtomicU64) {
    put_back(word, 0);
}

/// Releases a lock that the calling thread owns to the owner that [`replace_while`] found.
pub(super) fn put_back(word: &AtomicU64, found: u64) {
    // Release: pairs with the Acquire in `replace_while`.
    word.store(found, Release);
}

/// In a child's atfork handler: gives an owner that forked inside its section the child's generation.
#[allow(dead_code, reason = "only x86-64 has text to write")]
pub(super) fn adopt(word: &AtomicU64, process: u32) {
    let me = me(process);
    let found = word.load(Relaxed);
    if found != 0 && is_mine(found, me) {
        // Relaxed: fails where it was adopted already.
        let _ = word.compare_exchange(found, me, Relaxed, Relaxed);
    }
}

/// The calling thread as an owner.
pub(super) fn me(process: u32) -> u64 {
    u64::from(process) << 32 | u64::from(thread::token())
}

const fn generation(owner: u64) -> u32 {
    (owner >> 32) as u32
}

/// Whether `owner` is the calling thread, in this process or before it forked (Invariant 2). In the latter case it is
/// the child's first thread.
fn is_mine(owner: u64, me: u64) -> bool {
    owner as u32 == me as u32 && (generation(owner) == generation(me) || thread::is_first())
}
