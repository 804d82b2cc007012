//! What a fork makes of the mask: the child's thread is held as its parent's is, with nothing recorded, and what a thread
//! had that the child does not have can be told from what a thread of the child has.
//!
//! # States
//! `GENERATION`: forks between the first process and this one, modulo 64. `FORKER`: the thread that made this process.
//!
//! # Invariants
//! 1. Signals are blocked from before a fork to the child's first step, which forgets what the parent's thread had
//!    recorded.
//! 2. A thread's name is the address of its state, whose low bits are 0, and in these the generation in which it took
//!    what it has. No two threads of a process have one address.
//! 3. What has the name of an older generation was taken before the fork, by the thread that forked or by one that the child
//!    does not have; or, in the child, before [`in_child`] ran.
//!
//! # Fork handlers of others
//! Child handlers run in the order of registration, so those that were registered before ours run in a child of which this
//! module has not heard. There the thread that forked asks for the process's number, and what others have is a
//! parent's. What a thread takes that such a handler has started has the parent's generation, and counts
//! as a parent's from then on; so nothing is ever taken from whoever has it, and a bounded wait for it ends early. Prepare
//! handlers of theirs run with signals blocked. A signal that they let through under a hold all the same is
//! recorded, and in the child forgotten with the rest.
//!
//! `_Fork`, vfork and bare clone(2) call no handlers.

use super::hold::thread_mask;
use crate::error::Refusal;
use crate::sys::{atfork, signal_mask};
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

/// The bits of a name that are the generation: a state is aligned to 64.
const GENERATIONS: usize = 63;
/// In the place of a mask: there is none to put back. No mask has SIGKILL in it.
const NOT_BLOCKED: u64 = u64::MAX;

// Relaxed, all of it: stored in a child that has one thread, or by who has not been told of another.
static GENERATION: AtomicUsize = AtomicUsize::new(0);
static FORKER: AtomicUsize = AtomicUsize::new(0);
static REGISTERED: AtomicBool = AtomicBool::new(false);

/// The calling thread's name (Invariant 2), never 0.
#[inline(always)]
pub(super) fn me() -> usize {
    (&raw const *thread_mask()).addr() | GENERATION.load(Relaxed)
}

/// Whether both are names of one thread.
pub(super) fn is_same(a: usize, b: usize) -> bool {
    (a ^ b) & !GENERATIONS == 0
}

/// Whether the name seems to be one of a thread that this process does not have (Invariant 3).
pub(super) fn is_of_a_parent(name: usize) -> bool {
    let is_older = name & GENERATIONS != GENERATION.load(Relaxed) && !is_same(name, FORKER.load(Relaxed));
    is_older || !is_same(name, me()) && is_in_a_child_to_be()
}

/// Whether the calling thread is in a handler of others that runs in a child before ours.
fn is_in_a_child_to_be() -> bool {
    let state = thread_mask();
    state.forking.load(Relaxed) != 0 && state.forking_process.load(Relaxed) != process()
}

#[cfg(not(loom))]
use crate::sys::process::id as process;

/// Nothing forks there.
#[cfg(loom)]
fn process() -> u32 {
    0
}

/// Registers what is done around forks. Two threads that are both the first may register it twice: it is then done once.
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

/// The last of as many calls as there were of `before` does `change`, and puts the mask back.
fn end(change: impl FnOnce()) {
    let state = thread_mask();
    let forking = state.forking.load(Relaxed);
    if forking > 1 {
        return state.forking.store(forking - 1, Relaxed);
    }
    change();
    state.forking.store(0, Relaxed);
    let mask = state.before_fork.load(Relaxed);
    // Registered while the fork was on its way, or refused: nothing was blocked.
    if forking != 0 && mask != NOT_BLOCKED {
        // What the kernel was asked to keep meanwhile it goes on keeping until the release.
        signal_mask::set(mask | state.blocked());
    }
}
