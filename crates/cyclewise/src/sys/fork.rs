//! What is done around a fork, and in its child before fork returns in it.
//!
//! # Safety
//! 1. The C library keeps the function for as long as the link unit that registered it is loaded.
//! 2. A node of the list of words is never freed, and changed by nobody once it can be found.
#![expect(
    unsafe_code,
    reason = "pthread_atfork, a list that a handler walks; in tests fork, waitpid, kill"
)]

use crate::error::Refusal;
#[cfg(not(loom))]
pub(crate) use words::zero_in_child;

/// Has every child of fork(3) call `function`. Not those of vfork, posix_spawn and bare clone(2).
///
/// # Errors
/// ENOMEM.
pub(crate) fn in_child(function: extern "C" fn()) -> Result<(), Refusal> {
    // SAFETY: Invariant 1; the function takes nothing.
    match unsafe { libc::pthread_atfork(None, None, Some(function)) } {
        0 => Ok(()),
        errno => Err(Refusal::System {
            call: "pthread_atfork",
            errno,
        }),
    }
}

/// Has every fork(3) call `before` in the thread that forks, and `after` in parent and child. Not vfork, posix_spawn,
/// `_Fork` and bare clone(2).
///
/// # Errors
/// ENOMEM.
#[cfg(target_pointer_width = "64")]
pub(crate) fn around(
    before: extern "C" fn(),
    in_parent: extern "C" fn(),
    in_child: extern "C" fn(),
) -> Result<(), Refusal> {
    // SAFETY: Invariant 1; the functions take nothing.
    match unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) } {
        0 => Ok(()),
        errno => Err(Refusal::System {
            call: "pthread_atfork",
            errno,
        }),
    }
}

#[cfg(not(loom))]
mod words {
    use super::{Refusal, in_child};
    use alloc::boxed::Box;
    use core::ptr::{from_ref, null_mut};
    use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
    use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

    struct Node {
        word: &'static AtomicU64,
        next: *mut Node,
    }

    static FIRST: AtomicPtr<Node> = AtomicPtr::new(null_mut());

    /// The nodes, from the last one on.
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

    /// Has every child of fork(3) find 0 in `word`, from now on.
    ///
    /// # Errors
    /// ENOMEM.
    pub(crate) fn zero_in_child(word: &'static AtomicU64) -> Result<(), Refusal> {
        static REGISTERED: AtomicBool = AtomicBool::new(false);
        // Relaxed, twice: two threads that are both the first register both, and then it is stored twice.
        if !REGISTERED.load(Relaxed) {
            in_child(zero)?;
            REGISTERED.store(true, Relaxed);
        }
        if words().any(|known| from_ref(known) == from_ref(word)) {
            return Ok(());
        }
        let mut first = FIRST.load(Relaxed);
        let node = Box::into_raw(Box::new(Node { word, next: first }));
        // AcqRel: pairs with the Acquire in `words`; the node is written.
        while let Err(now) = FIRST.compare_exchange(first, node, AcqRel, Relaxed) {
            first = now;
            // SAFETY: nobody has found it yet (Invariant 2).
            unsafe { (*node).next = first };
        }
        Ok(())
    }
}

/// Runs `child` in a child; its end as wait(2) has it, 101 where it panicked. A child that takes longer than the limit is
/// killed, by a signal that none can block.
///
/// # Safety
/// The caller may have other threads: `child` does what a child of such a process may.
#[cfg(all(test, target_pointer_width = "64", not(loom)))]
pub(crate) unsafe fn child(child: fn(), limit: core::time::Duration) -> i32 {
    // SAFETY: the caller vouches for what the child does beside threads that are not there.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let outcome = std::panic::catch_unwind(child);
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(if outcome.is_ok() { 0 } else { 101 }) };
    }
    let begun = std::time::Instant::now();
    let mut status = 0;
    // SAFETY: our child, until it has been waited for.
    while unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == 0 {
        if begun.elapsed() > limit {
            // SAFETY: takes numbers; the number is our child's until it has been waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(core::time::Duration::from_millis(1));
    }
    status
}
