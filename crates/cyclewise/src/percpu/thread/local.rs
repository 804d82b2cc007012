//! What each thread keeps: the portable slot that it tries first.

use crate::percpu::slot_locks::PORTABLE;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::thread_local;

thread_local! {
    static PREFERRED: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The portable slot that the calling thread locked last.
pub(in crate::percpu) fn preferred() -> usize {
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

pub(in crate::percpu) fn prefer(slot: usize) {
    PREFERRED.set(slot);
}

/// A number of the calling thread, not 0.
#[allow(dead_code, reason = "only builds that do not notice forks ask")]
pub(in crate::percpu) fn number() -> u64 {
    thread_local! {
        static PLACE: u8 = const { 0 };
    }
    PLACE.with(|place| core::ptr::from_ref(place).addr()) as u64
}
