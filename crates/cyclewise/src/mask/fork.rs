//! The mask across fork: a child's thread is held as its parent's is, without its records. Owners that exist only in
//! the parent can be told from threads of the child.
//!
//! # States
//! `GENERATION`: the forks between the first process and this one, modulo 64. `FORKER`: the thread that forked this
//! process.
//!
//! # Invariants
//! 1. Signals are blocked from before a fork until the child has dropped the records of the parent's thread.
//! 2. A thread's name is the address of its mask, whose low bits are 0, with the current generation in those bits. No
//!    two threads of a process have the same address.
//! 3. An owner's name with an older generation was stored before the fork, by the forking thread or by one that the
//!    child does not have; or in the child before [`in_child`] ran.
//!
//! # Foreign fork handlers
//! Child handlers run in order of registration, so those registered before ours run in a child that this module does
//! not know of yet. There the thread that forked compares process ids, and treats other owners as threads of the
//! parent. A thread that such a handler starts takes values under the parent's generation and later counts as a thread
//! of the parent. So nothing is ever taken from an owner, and a bounded wait for such an owner ends early. Foreign
//! prepare handlers run with signals blocked. If one unblocks a signal under a hold, the signal is recorded and then
//! dropped in the child with the rest.
//!
//! `_Fork`, vfork and bare clone(2) call no handlers.

use super::hold::thread_mask;
use crate::error::Refusal;
use crate::sys::{atfork, signal_mask};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

/// The bits of a name that hold the generation: a thread's mask is aligned to 64.
const GENERATIONS: usize = 63;
/// Stored instead of a mask: there is none to restore. No mask contains SIGKILL.
const NOT_BLOCKED: u64 = u64::MAX;

// Relaxed, all of them: stored in a child with one thread, or idempotent.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
static FORKER: AtomicUsize = AtomicUsize::new(0);
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The calling thread's name (Invariant 2), never 0.
#[inline(always)]
pub(super) fn me() -> usize {
    (&raw const *thread_mask()).addr() | GENERATION.load(Relaxed)
}

/// Whether both names are of the same thread.
pub(super) fn is_same(a: usize, b: usize) -> bool {
    (a ^ b) & !GENERATIONS == 0
}

/// Whether the name appears to belong to a thread that exists only in a parent (Invariant 3).
pub(super) fn is_of_a_parent(name: usize) -> bool {
    let is_older = name & GENERATIONS != GENERATION.load(Relaxed) && !is_same(name, FORKER.load(Relaxed));
    is_older || !is_same(name, me()) && is_in_a_child_to_be()
}

/// Whether the calling thread is in a foreign handler that runs in a child before ours.
fn is_in_a_child_to_be() -> bool {
    let state = thread_mask();
    state.forking.load(Relaxed) != 0 && state.forking_process.load(Relaxed) != process()
}

use crate::sys::process::id as process;

/// Registers the atfork handlers. Two threads may both register them, which counts calls and works once.
///
/// # Errors
/// ENOMEM.
pub(super) fn watch() -> Result<(), Refusal> {
    if !REGISTERED.load(Relaxed) {
        atfork::register_atfork(Some(before), Some(in_parent), Some(in_child))?;
        REGISTERED.store(true, Relaxed);
    }
    Ok(())
}

extern "C" fn before() {
    let state = thread_mask();
    let forking = state.forking.load(Relaxed);
    if forking == 0 {
        let mask = signal_mask::block().unwrap_or(NOT_BLOCKED);
        state.before_fork.store(mask, Relaxed);
        state.forking_process.store(process(), Relaxed);
    }
    state.forking.store(forking + 1, Relaxed);
}

extern "C" fn in_parent() {
    end(|| ());
}

extern "C" fn in_child() {
    end(|| {
        thread_mask().forget();
        GENERATION.store((GENERATION.load(Relaxed) + 1) & GENERATIONS, Relaxed);
        FORKER.store(me() & !GENERATIONS, Relaxed);
    });
}

/// The last call of as many as there were of `before` runs `change` and restores the mask.
fn end(change: impl FnOnce()) {
    let state = thread_mask();
    let forking = state.forking.load(Relaxed);
    if forking > 1 {
        return state.forking.store(forking - 1, Relaxed);
    }
    change();
    state.forking.store(0, Relaxed);
    let mask = state.before_fork.load(Relaxed);
    // Not if the handlers were registered during the fork, or blocking was refused: then nothing was blocked.
    if forking != 0 && mask != NOT_BLOCKED {
        // Signals that the kernel began to keep meanwhile stay blocked until the release.
        signal_mask::set(mask | state.blocked());
    }
}
