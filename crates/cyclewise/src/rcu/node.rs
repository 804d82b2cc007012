//! A deferred closure on the heap, as a link of a list.
//!
//! # Safety
//! 1. A node is the beginning of a boxed [`Full`] of the type that its function is for, and belongs to who has its address.
#![expect(unsafe_code, reason = "closures of different types in one list")]

use crate::sys::dl;
use core::ptr::null_mut;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(Debug)]
#[repr(C)]
pub(super) struct Node {
    pub(super) next: *mut Node,
    run: unsafe fn(*mut Node),
}

#[repr(C)]
struct Full<F> {
    node: Node,
    closure: F,
}

/// A closure as a node. Its code stays loaded: the link unit that it is in is not unmapped from now on.
pub(super) fn boxed<F: FnOnce() + Send + 'static>(closure: F) -> *mut Node {
    keep_loaded(run_boxed::<F> as *const ());
    let node = Node {
        next: null_mut(),
        run: run_boxed::<F>,
    };
    Box::into_raw(Box::new(Full { node, closure })).cast()
}

/// # Safety
/// A node of this type (Safety 1), which nobody uses afterwards.
unsafe fn run_boxed<F: FnOnce()>(node: *mut Node) {
    // SAFETY: boxed as this type, guaranteed by the caller.
    let full = unsafe { Box::from_raw(node.cast::<Full<F>>()) };
    (full.closure)();
}

/// Keeps the code's link unit mapped. Where the dynamic linker refuses that, the unit is one that it does not unload.
pub(super) fn keep_loaded(code: *const ()) {
    // By address, so that a closure's second deferral costs two loads.
    static KEPT: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];
    let kept = &KEPT[(code.addr() >> 4) % KEPT.len()];
    if kept.load(Relaxed) != code.addr() {
        dl::keep_loaded(code.cast());
        kept.store(code.addr(), Relaxed);
    }
}

/// Runs a node's closure, and returns the next node. A panic of the closure ends with it: the panic hook has told it.
pub(super) fn run(node: *mut Node) -> *mut Node {
    // SAFETY: the caller's node (Safety 1).
    let &Node { next, run } = unsafe { &*node };
    // SAFETY: the node's own function, once.
    let result = catch_unwind(AssertUnwindSafe(|| unsafe { run(node) }));
    if let Err(payload) = result {
        // Its destructor could panic again.
        core::mem::forget(payload);
    }
    next
}

/// The list in the order in which its nodes came.
pub(super) fn reversed(mut newest: *mut Node) -> *mut Node {
    let mut oldest = null_mut();
    while !newest.is_null() {
        // SAFETY: a node of the caller's list.
        let next = unsafe { core::mem::replace(&mut (*newest).next, oldest) };
        oldest = core::mem::replace(&mut newest, next);
    }
    oldest
}

pub(super) fn count(first: *mut Node) -> usize {
    // SAFETY: null, or a node of the caller's list.
    let next = |node: *mut Node| unsafe { node.as_ref() }.map(|node| node.next);
    core::iter::successors(Some(first), |&node| next(node))
        .filter(|node| !node.is_null())
        .count()
}
