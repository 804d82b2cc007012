//! What a fork makes of the counts: the child has a file of its own, with the same sites and no counts.
//!
//! All locks are held while the process forks, so that the child finds their data whole.
//!
//! # Safety
//! 1. In the child of a fork there is one thread, and it executes nothing of the program until the fork is over.
#![allow(unsafe_code, reason = "unmaps the parent's file in the child")]

use crate::blocks::{self, Translation};
use crate::callers;
use crate::image;
use crate::layout::Header;
use crate::syscalls;
use crate::thread::{self, Pool};
use crate::words::{self, Guard};
use std::cell::RefCell;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

/// The locks, in the order in which they are taken.
struct Held {
    translation: MutexGuard<'static, Translation>,
    pool: MutexGuard<'static, Pool>,
    words: Vec<Guard>,
    image: MutexGuard<'static, image::Image>,
}

thread_local! {
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// Has the process's forks followed.
pub fn follow() -> bool {
    crate::sys::at_fork(prepare, parent, child)
}

extern "C" fn prepare() {
    let held = Held {
        translation: blocks::lock(),
        pool: thread::lock_pool(),
        words: words::lock_all(),
        image: image::lock(),
    };
    HELD.set(Some(held));
}

extern "C" fn parent() {
    HELD.take();
}

extern "C" fn child() {
    let Some(mut held) = HELD.take() else { return };
    let parent = held.image.header.map_or(0, |h: &Header| h.pid.load(Ordering::Relaxed));
    // Its lock is taken inside the others, again and again.
    drop(held.image);
    let Some(run) = image::RUN.get() else { return };
    let (before, _) = image::begin(run, parent);
    held.translation.sites.begin_again();
    held.pool.begin_again();
    for shard in &mut held.words {
        shard.begin_again();
    }
    words::begin_again();
    thread::begin_again();
    callers::begin_again();
    syscalls::begin_again();
    // SAFETY: every record of the parent's file has been replaced, and no other thread is there to use one (Invariant 1).
    unsafe { before.release() };
}
