//! What a thread is known by, and which portable slot it had last.

use super::super::slots::PORTABLE;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::thread_local;

thread_local! {
    static PREFERRED: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A number of the calling thread's, not 0, and the same after a fork.
pub(in super::super) fn token() -> usize {
    PREFERRED.with(|preferred| core::ptr::from_ref(preferred).addr())
}

/// The portable slot that the calling thread had last.
pub(in super::super) fn preferred() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    match PREFERRED.get() {
        usize::MAX => {
            // Relaxed: any order of threads will do.
            let n = NEXT.fetch_add(1, Ordering::Relaxed) % PORTABLE;
            prefer(n);
            n
        }
        n => n,
    }
}

/// Sets that.
pub(in super::super) fn prefer(slot: usize) {
    PREFERRED.set(slot);
}
