//! A descriptor of this process's memory that stays open while sites are elided.
//!
//! A sandbox entered while LOCK is elided can refuse to open files and to make text writable. Then nothing could
//! restore LOCK, and every new thread would be refused. So the descriptor that the elision wrote through stays open
//! until LOCK is restored.
//!
//! # Invariants
//! 1. Before each use the descriptor is checked to show this process's memory ([`is_own`](ProcMem::is_own)). A number
//!    that other code closed and reused, or that a fork inherited from the parent, is not used.
//! 2. It is closed only while the number still refers to the same file.
//! 3. A child of fork closes its parent's descriptor before fork returns in it, and opens its own. A child of `_Fork`
//!    or of bare clone(2) keeps its parent's until exec and does not use it. A child forked inside a change does so
//!    until LOCK is restored there.
//!
//! # Risk in a sandbox
//! Code that can make the process call pwrite(2) with chosen arguments can write its text through this descriptor, past
//! W^X. [`lock`](crate::patch::lock()) closes it: a program that must be contained calls that before it enters its
//! sandbox.
//!
//! # Cost
//! One open and one close each time LOCK is elided and restored, and the same in each child forked in between. Each
//! write through it makes two checks first.

use crate::patch::text_guard::TextGuard;
use crate::sys::proc_mem::{Identity, ProcMem};
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

/// The descriptor's number; negative if there is none. This and [`IDENTITY`] change under the text lock.
static NUMBER: AtomicI32 = AtomicI32::new(NONE);
const NONE: i32 = -1;

/// The identity of its file.
static IDENTITY: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Opens it if possible, unless it is open.
pub(super) fn keep(held: &TextGuard) {
    if borrow(held).is_none() {
        open();
    }
}

pub(super) fn release(_: &TextGuard) {
    close();
}

/// The descriptor, if it still shows this process's memory.
pub(super) fn borrow(_: &TextGuard) -> Option<ManuallyDrop<ProcMem>> {
    kept().filter(|memory| memory.is_own())
}

/// Whatever file has the number now.
fn kept() -> Option<ManuallyDrop<ProcMem>> {
    // Relaxed, here and below: the text lock orders them. Without the lock only the number's sign is used.
    let number = NUMBER.load(Relaxed);
    (number != NONE).then(|| ProcMem::of_number(number))
}

fn open() {
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

pub(crate) fn is_kept() -> bool {
    kept().is_some()
}

/// In a child of fork, by the handler of the text lock (Invariant 3).
pub(crate) fn renew(held: &TextGuard) {
    if is_kept() && borrow(held).is_none() {
        close();
        open();
    }
}
