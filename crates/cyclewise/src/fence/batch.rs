//! Sharing one barrier among the threads that ask for one meanwhile.
//!
//! # Invariants
//! 1. Barrier n begins after STARTED became n, and DONE is at least n only after it has ended. So a caller that found STARTED below n
//!    before is served by barrier n.
//! 2. Nobody waits for long: a caller makes its own barrier in the end. RUNNING may stay set for ever, in a child of fork.

use crate::error::Refusal;
use crate::sys::thread;
use core::hint::spin_loop;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU64};

static STARTED: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static RUNNING: AtomicBool = AtomicBool::new(false);

/// Looks between two naps, and naps: a barrier takes some microseconds, or a time slice where its caller was preempted.
const SPINS: u32 = 200;
const NAPS: u32 = 4;

/// Returns when a barrier that began after the call has ended.
///
/// # Errors
/// Those of `barrier`, where this caller makes it.
pub(super) fn join(barrier: impl Fn() -> Result<(), Refusal>) -> Result<(), Refusal> {
    // SeqCst: pairs with the addition in `run`, so that the caller's earlier stores are before the barrier.
    core::sync::atomic::fence(SeqCst);
    let wanted = STARTED.load(SeqCst) + 1;
    for look in 0..SPINS * NAPS {
        // Acquire: pairs with the Release in `run`; what the barrier made visible is visible here.
        if DONE.load(Acquire) >= wanted {
            core::sync::atomic::fence(SeqCst);
            return Ok(());
        }
        // Acquire: pairs with the Release in `run`, for DONE.
        if !RUNNING.load(Relaxed) && !RUNNING.swap(true, Acquire) {
            return run(wanted, barrier);
        }
        if look % SPINS == SPINS - 1 {
            thread::nap();
        } else {
            spin_loop();
        }
    }
    barrier()
}

fn run(wanted: u64, barrier: impl Fn() -> Result<(), Refusal>) -> Result<(), Refusal> {
    // Relaxed: the swap of RUNNING acquired it.
    let served = DONE.load(Relaxed) >= wanted;
    let result = if served {
        core::sync::atomic::fence(SeqCst);
        Ok(())
    } else {
        // SeqCst: pairs with the load in `join`.
        let number = STARTED.fetch_add(1, SeqCst) + 1;
        // Release: pairs with the Acquire in `join`. Not stored after an error, which serves nobody.
        barrier().inspect(|()| DONE.store(number, Release))
    };
    RUNNING.store(false, Release);
    result
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use core::cell::Cell;

    const REFUSED: Refusal = Refusal::System {
        call: "membarrier",
        errno: libc::EPERM,
    };

    /// The batch of the thread that a handler interrupts, or of a thread that a child of fork does not have.
    #[test]
    fn a_batch_that_does_not_end_is_not_waited_for() {
        let made = Cell::new(0);
        let barrier = || {
            made.set(made.get() + 1);
            Ok(())
        };
        assert_eq!(join(|| join(barrier)), Ok(()));
        assert_eq!(made.get(), 1);
        assert_eq!(join(|| Err(REFUSED)), Err(REFUSED));
        assert_eq!((join(barrier), made.get()), (Ok(()), 2), "an error serves nobody");
    }
}
