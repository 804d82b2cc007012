//! pthread_atfork(3): functions that the C library calls around each fork(3).
//!
//! It calls none for vfork, posix_spawn, `_Fork` and bare clone(2).
//!
//! # Safety
//! 1. A handler is a function of this link unit. glibc's `pthread_atfork` is linked into each unit, so that the C library
//!    forgets a unit's handlers when it unloads the unit.
//! 2. A node of the list of words is never freed, and nobody changes it once it can be found.
#![expect(unsafe_code, reason = "pthread_atfork, a list that a handler walks")]

use super::heap::try_box;
use crate::error::Refusal;
use alloc::boxed::Box;
use core::ptr::{from_ref, null_mut};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

pub(crate) type Handler = extern "C" fn();

/// Has every fork(3) call `prepare` in the thread that forks, before; then `parent` and `child` in the two processes.
/// The C library calls prepare handlers in the reverse order of registration, and the others in that order.
///
/// # Errors
/// ENOMEM.
pub(crate) fn register_atfork(
    prepare: Option<Handler>,
    parent: Option<Handler>,
    child: Option<Handler>,
) -> Result<(), Refusal> {
    // `Handler` is a safe function, and C's type an unsafe one.
    let [prepare, parent, child] = [prepare, parent, child].map(|handler| handler.map(|handler| handler as _));
    // SAFETY: Invariant 1; the functions take nothing.
    match unsafe { libc::pthread_atfork(prepare, parent, child) } {
        0 => Ok(()),
        errno => Err(Refusal::System {
            call: "pthread_atfork",
            errno,
        }),
    }
}

struct Node {
    word: &'static AtomicU64,
    next: *mut Node,
}

static FIRST: AtomicPtr<Node> = AtomicPtr::new(null_mut());

/// The listed words, newest first.
fn words() -> impl Iterator<Item = &'static AtomicU64> {
    // Acquire: pairs with the AcqRel in `zero_in_child`.
    let mut node = FIRST.load(Acquire);
    core::iter::from_fn(move || {
        // SAFETY: null, or a node (Invariant 2).
        let found = unsafe { node.as_ref() }?;
        node = found.next;
        Some(found.word)
    })
}

extern "C" fn zero() {
    // Relaxed: the child has one thread.
    words().for_each(|word| word.store(0, Relaxed));
}

/// Zeroes `word` in every child of fork(3), from now on.
///
/// # Errors
/// ENOMEM.
pub(crate) fn zero_in_child(word: &'static AtomicU64) -> Result<(), Refusal> {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    // Relaxed, twice: two threads that are both first may both register, and then the child stores twice.
    if !REGISTERED.load(Relaxed) {
        register_atfork(None, None, Some(zero))?;
        REGISTERED.store(true, Relaxed);
    }
    if words().any(|known| from_ref(known) == from_ref(word)) {
        return Ok(());
    }
    let mut first = FIRST.load(Relaxed);
    let node = Box::into_raw(try_box(Node { word, next: first })?);
    // AcqRel: pairs with the Acquire in `words`; the node is written.
    while let Err(now) = FIRST.compare_exchange(first, node, AcqRel, Relaxed) {
        first = now;
        // SAFETY: nobody has found it yet (Invariant 2).
        unsafe { (*node).next = first };
    }
    Ok(())
}
