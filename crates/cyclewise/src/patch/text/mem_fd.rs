//! The descriptor of this process's memory that stays open while sites are elided.
//!
//! A sandbox that comes after LOCK was taken away can refuse to open files and to make text writable. Then nothing would
//! bring LOCK back, and every thread would be refused. So what the elision wrote through stays open until LOCK is back.
//!
//! # Invariants
//! 1. Before each use the descriptor is asked whether it shows this process's memory
//!    ([`is_own`](ProcMem::is_own)). A number that was closed by somebody else, or that was inherited from the parent
//!    of a fork, is not used.
//! 2. It is closed only while the number is still the file that was kept.
//! 3. A child of fork closes its parent's before fork returns in it, and opens one of its own. A child of `_Fork` or of
//!    bare clone(2) keeps its parent's until it calls exec, and does not use it; so does one that was forked inside a change,
//!    until LOCK is back there.
//!
//! # What it is to a sandbox
//! Whoever can make the process call pwrite(2) with arguments of his choice can write its text through this descriptor,
//! past W^X. [`lock`](crate::patch::lock()) closes it: a program that is to be held against its own code calls that before
//! it enters its sandbox.
//!
//! # Cost
//! One open and one close for each time that LOCK goes and comes back, and the same in each child that is forked in
//! between; a write through it asks twice before.

use crate::patch::text_lock::{self, TextGuard};
use crate::sys::atfork::register_atfork;
use crate::sys::proc_mem::{Identity, ProcMem};
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::Relaxed};

/// The number of the descriptor; negative where none is kept. This and [`IDENTITY`] are changed under the lock of the
/// text.
static NUMBER: AtomicI32 = AtomicI32::new(NONE);
const NONE: i32 = -1;

/// Which file that is.
static IDENTITY: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Opens it, where that can be done and is not done yet.
pub(super) fn keep(held: &TextGuard) {
    if borrow(held).is_none() {
        open();
    }
}

/// Closes it.
pub(super) fn release(_: &TextGuard) {
    close();
}

/// What was kept, if it still shows this process's memory.
pub(super) fn borrow(_: &TextGuard) -> Option<ManuallyDrop<ProcMem>> {
    kept().filter(|memory| memory.is_own())
}

/// What has the number now, whatever it is.
fn kept() -> Option<ManuallyDrop<ProcMem>> {
    // Relaxed, here and below: the lock of the text orders them. Without it only whether there is one is looked at.
    let number = NUMBER.load(Relaxed);
    (number != NONE).then(|| ProcMem::of_number(number))
}

fn open() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.load(Relaxed) {
        // Without the handler a child would hold its parent's memory.
        if register_atfork(None, None, Some(in_child)).is_err() {
            return;
        }
        REGISTERED.store(true, Relaxed);
    }
    let Ok(memory) = ProcMem::open().map(ProcMem::moved_up) else {
        return;
    };
    if let Some(Identity(device, inode)) = memory.identity() {
        IDENTITY[0].store(device, Relaxed);
        IDENTITY[1].store(inode, Relaxed);
        NUMBER.store(memory.into_number(), Relaxed);
    }
}

fn close() {
    let identity = Identity(IDENTITY[0].load(Relaxed), IDENTITY[1].load(Relaxed));
    if let Some(memory) = kept().filter(|memory| memory.identity() == Some(identity)) {
        drop(ManuallyDrop::into_inner(memory));
    }
    NUMBER.store(NONE, Relaxed);
}

/// In a child of fork (Invariant 3). Under the lock: a handler of others that ran before this one may have created threads,
/// which elide in confined mode and restore LOCK.
extern "C" fn in_child() {
    if kept().is_none() {
        return;
    }
    // Refused where the fork came from within a change of this thread's: then it stays, unused, until LOCK is back.
    let Ok(held) = text_lock::lock() else { return };
    if kept().is_some() && borrow(&held).is_none() {
        close();
        open();
    }
}
