//! The lock under far more threads than CPUs, with holders that are preempted, and each promise broken on purpose.
//!
//! `CYCLEWISE_LOCK_SECONDS` sets how long the crowd runs.

mod counting;
mod crowd;
mod freed;
#[path = "../process/mod.rs"]
mod process;
mod room;
#[path = "../signal/mod.rs"]
mod signal;
mod sleep;

use counting::{Counting, WAITS, WAKES};
use cyclewise::lock::{Futex, RawSpinLock};
use lock_api::RawMutex;
use std::sync::atomic::Ordering::Relaxed;

/// How long may pass without an operation by a thread before that counts as a hang: this machine may be frozen for a while.
const HANG_S: u32 = 600;

fn main() {
    process::run(&[
        ("a_crowd_is_exclusive_and_nobody_hangs", || {
            let slept = || WAITS.load(Relaxed) > 0 && WAKES.load(Relaxed) > 0;
            crowd::crowd::<RawSpinLock<Counting>>(slept);
            println!("  {} waits, {} wakes", WAITS.load(Relaxed), WAKES.load(Relaxed));
            assert!(slept(), "nobody slept: the crowd shows nothing");
        }),
        ("a_crowd_with_deadlines_is_exclusive_too", || {
            crowd::crowd::<RawSpinLock<Futex>>(|| true)
        }),
        ("twin_two_inside_are_seen", crowd::twin_two_inside_are_seen),
        ("a_sleeping_head_is_woken", || {
            assert!(sleep::wakes_its_waiter::<Counting>())
        }),
        ("twin_a_wake_that_is_lost_is_seen", || {
            assert!(!sleep::wakes_its_waiter::<sleep::Sleepless>());
        }),
        ("a_released_lock_may_be_freed", || {
            freed::frees_behind_a_release(|lock, _| unlock(lock))
        }),
        (
            "twin_a_touch_after_the_release_is_seen",
            freed::twin_a_touch_after_the_release_is_seen,
        ),
        (
            "a_handler_locks_while_its_thread_waits",
            sleep::a_handler_locks_while_its_thread_waits,
        ),
        ("a_deadline_is_kept_while_others_come_and_go", crowd::a_deadline_is_kept),
        #[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
        ("confined_to_one_cpu_all_come_to_their_turn", crowd::confined),
    ]);
}

/// Ends the process where a check hangs.
fn alarm() {
    // SAFETY: takes a number; the default action of SIGALRM is to kill.
    unsafe { libc::alarm(HANG_S) };
}

fn unlock<R: RawMutex>(lock: &R) {
    // SAFETY: each caller holds it.
    unsafe { lock.unlock() };
}
