//! What runs for a signal.
//!
//! A handler may run between any two instructions of its thread: inside malloc, inside a lock, inside a `RefCell`. So
//! code that is safe elsewhere is not safe here, and a closure of any kind can only be registered by an unsafe
//! function. Registering is safe for types that are known to do nothing but atomic operations: flags, counters, and
//! a [`Masked`](super::Masked) [`Queue`](super::Queue) that something else empties.
//!
//! # Safety
//! 1. An implementation of [`Handler`] keeps the trait's contract; std's atomics' operations are single instructions or
//!    short loops that take no lock.
#![expect(
    unsafe_code,
    reason = "an unsafe trait: its implementors promise what the compiler cannot check"
)]

use super::Info;
use super::hold::Hold;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// What can be registered for a signal by safe code.
///
/// # Safety
/// `handle` does only what may be done between any two instructions of any thread (signal-safety(7)): no allocation, no
/// lock that mainline takes without a hold, no lazily made thread-local, no call that is not async-signal-safe. It does
/// not unwind: a panic out of it aborts the process. It does not leave by longjmp.
pub unsafe trait Handler: Sync {
    /// Runs once for each signal, on the thread that got it; no other handler of ours runs on it meanwhile.
    fn handle(&self, info: &Info, hold: &Hold);
}

// SAFETY: Invariant 1.
unsafe impl Handler for AtomicBool {
    /// Sets the flag. Ordering: Release; pairs with the program's Acquire loads.
    fn handle(&self, _: &Info, _: &Hold) {
        self.store(true, Ordering::Release);
    }
}

macro_rules! counter {
    ($($name:ty),*) => { $(
        // SAFETY: Invariant 1.
        unsafe impl Handler for $name {
            /// Counts, and wraps env. Ordering: Release; pairs with the program's Acquire loads.
            fn handle(&self, _: &Info, _: &Hold) {
                self.fetch_add(1, Ordering::Release);
            }
        }
    )* };
}
counter!(AtomicU32, AtomicU64, AtomicUsize);

/// A closure, by the promise of [`Signals::call`](super::Signals::call).
pub(super) struct Closure<F>(pub(super) F);

// SAFETY: whoever registered the closure has promised it.
unsafe impl<F: Fn(&Info, &Hold) + Sync> Handler for Closure<F> {
    fn handle(&self, info: &Info, hold: &Hold) {
        (self.0)(info, hold);
    }
}
