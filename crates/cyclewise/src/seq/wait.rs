//! How a reader or writer waits for a writer, and for how long it tries before it gives up.

use crate::sys::thread;
use core::hint::spin_loop;

/// Attempts of what does not wait: a writer that runs is done after one or two.
pub(super) const ATTEMPTS: u32 = 100;

/// Spins at first; then sleeps, so that a preempted writer of any priority gets the CPU. Returns the next attempt, by value: its address
/// would cost readers a store.
pub(super) fn wait(attempt: u32) -> u32 {
    if attempt % ATTEMPTS == ATTEMPTS - 1 {
        thread::nap();
    } else {
        spin_loop();
    }
    attempt.wrapping_add(1)
}
