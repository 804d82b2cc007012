//! The trait of signal handlers.
//!
//! A handler may run between any two instructions of its thread: inside malloc, inside a lock, inside a `RefCell`. So
//! code that is safe elsewhere may be unsafe here, and registering a closure is an unsafe function. Registering is safe
//! for types known to do only what a handler may: flags, counters, and a [`Masked`](super::Masked)
//! [`Queue`](super::Queue).
//!
//! # Safety
//! 1. An implementation of [`Handler`] keeps the trait's contract; operations on std's atomics are single instructions
//!    or short loops that take no lock.
#![expect(
    unsafe_code,
    reason = "an unsafe trait: its implementors promise what the compiler cannot check"
)]

use super::Info;
use super::this_thread::Hold;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A handler that safe code can register for a signal.
///
/// # Safety
/// `handle` does not leave by siglongjmp: its thread would stay held and run no handler any more. It is async-signal-safe
/// (signal-safety(7)): it does not allocate, take a lock that other code takes without a hold, use a lazily initialized
/// thread-local, or make another call that is not async-signal-safe. A panic out of it ends the process: by SIGABRT, or by SIGSEGV
/// where the alternate stack has no room for panicking.
pub unsafe trait Handler: Sync {
    /// Runs once for each signal, on the thread that received it. No other handler of this crate runs on that thread
    /// meanwhile.
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

/// A closure registered by [`Signals::call`](super::Signals::call).
pub(super) struct Closure<F>(pub(super) F);

// SAFETY: the caller of `Signals::call` promised it.
unsafe impl<F: Fn(&Info, &Hold) + Sync> Handler for Closure<F> {
    fn handle(&self, info: &Info, hold: &Hold) {
        (self.0)(info, hold);
    }
}
