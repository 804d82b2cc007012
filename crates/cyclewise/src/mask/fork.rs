//! The mask across fork, and who a thread is: a child's thread is held as its parent's is, without its records. Owners that exist
//! only in the parent, or that have ended, can be told from threads of the child.
//!
//! # Names
//! A thread's name is, from the high bits: the generation of the process ([`fork_generation`]) in which it was named, 10 bits of a
//! count, and its kernel id. A thread is named when it first takes a value, and keeps the name in children that it forks.
//!
//! # Invariants
//! 1. Signals are blocked from before a fork until the child has dropped the records of the parent's thread.
//! 2. No two threads of a process have the same name: of those named in this process the kernel ids differ, and of those named in
//!    an ancestor there is one, the thread that forked. A thread that got the kernel id of one that has ended has another
//!    count, unless 1024 threads were named between the two.
//! 3. An owner's name of another generation was stored before the fork: by the thread that forked, or by one that the child
//!    does not have.
//!
//! # Foreign fork handlers, and children without any
//! A process's generation needs no fork handler, so Invariant 3 holds in handlers that run before ours and in children of `_Fork`
//! too. There the thread that forked knows that it did. Threads that it starts do not know its name; they wait for an owner of
//! another generation as for any.
//!
//! Foreign prepare handlers run with signals blocked. If one unblocks a signal under a hold, the signal is recorded and then
//! dropped in the child with the rest. `_Fork`, vfork and bare clone(2) call no handlers: records stay.

use super::this_thread::thread_mask;
use crate::error::Refusal;
use crate::sys::{atfork, fork_generation, signal_mask, thread};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

/// The bits of a name that hold the kernel's id: PID_MAX_LIMIT is 2^22, include/linux/threads.h.
const ID_BITS: u32 = 22;
/// Those that hold the id and the count; the generation is above.
const GENERATION_AT: u32 = 32;
/// Stored instead of a mask: there is none to restore. No mask contains SIGKILL.
const NOT_BLOCKED: u64 = u64::MAX;

// Relaxed, all of them: stored in a child with one thread, or idempotent, or a count.
/// The name of the thread that forked this process, 0 without one, and the process in which that was stored.
static FORKER: AtomicU64 = AtomicU64::new(0);
static FORKED: AtomicU32 = AtomicU32::new(0);
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The calling thread's name (Invariant 2), never 0.
#[inline(always)]
pub(super) fn me() -> u64 {
    match thread_mask().name.load(Relaxed) {
        0 => name_slow(),
        name => name,
    }
}

#[cold]
#[inline(never)]
fn name_slow() -> u64 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Relaxed) << ID_BITS;
    let name = u64::from(fork_generation::current()) << GENERATION_AT | u64::from(count | thread::id().cast_unsigned());
    // A handler may have come first. Relaxed: this thread's own.
    match thread_mask().name.compare_exchange(0, name, Relaxed, Relaxed) {
        Ok(_) => name,
        Err(first) => first,
    }
}

const fn generation(name: u64) -> u32 {
    (name >> GENERATION_AT) as u32
}

/// Whether the name belongs to a thread that exists only in a parent (Invariant 3).
pub(super) fn is_of_a_parent(name: u64) -> bool {
    let here = fork_generation::current();
    if name == 0 || generation(name) == here || name == me() {
        return false;
    }
    if FORKED.load(Relaxed) == here {
        return name != FORKER.load(Relaxed);
    }
    // None of our fork handlers has run in this process. A thread that was named before it is the one that forked.
    generation(me()) != here || thread::is_first()
}

/// Whether the name belongs to a thread of this process that has ended.
pub(super) fn has_ended(name: u64) -> bool {
    let id = |name: u64| (name & ((1 << ID_BITS) - 1)) as i32;
    let of_here = name != 0 && generation(name) == fork_generation::current();
    // A filter that says so of every thread says it of the caller.
    of_here && thread::is_gone(id(name)) && !thread::is_gone(thread::id())
}

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
    }
    state.forking.store(forking + 1, Relaxed);
}

extern "C" fn in_parent() {
    end(|| ());
}

extern "C" fn in_child() {
    end(|| {
        thread_mask().forget();
        // 0 where it never took a value.
        FORKER.store(thread_mask().name.load(Relaxed), Relaxed);
        FORKED.store(fork_generation::current(), Relaxed);
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
