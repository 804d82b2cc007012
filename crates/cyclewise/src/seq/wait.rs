//! How a reader or writer waits for a writer, and for how long it tries before it gives up.

use crate::sys::thread;
use core::hint::spin_loop;

/// Attempts of what does not wait: a writer that runs is done after one or two.
pub(super) const ATTEMPTS: u32 = 100;

/// Spins at first; then sleeps, so that a preempted writer of any priority gets the CPU.
pub(super) fn wait(attempt: &mut u32) {
    *attempt += 1;
    if attempt.is_multiple_of(ATTEMPTS) {
        thread::nap();
    } else {
        spin_loop();
    }
}
