//! The lock under far more threads than CPUs, with preempted holders. Twins break each promise on purpose.
//!
//! `CYCLEWISE_LOCK_SECONDS` sets how long the crowd runs.

use crate::common::call;
use crate::common::child::HANG_S;
use crate::common::futex::{Counting, WAITS, WAKES};
use crate::common::harness::{Check, checks};
use crate::{crowd, freed, sleep};
use cyclewise::lock::{Futex, RawSpinLock};
use lock_api::RawMutex;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) const CHECKS: &[Check] = checks![
    a_crowd_is_exclusive_and_nobody_hangs,
    a_crowd_with_deadlines_is_exclusive_too = || crowd::crowd::<RawSpinLock<Futex>>(|| true),
    twin_two_inside_are_seen = crowd::twin_two_inside_are_seen,
    a_sleeping_head_is_woken = || assert!(sleep::wakes_its_waiter::<Counting>()),
    twin_a_wake_that_is_lost_is_seen = || assert!(!sleep::wakes_its_waiter::<sleep::Sleepless>()),
    a_released_lock_may_be_freed = || freed::frees_behind_a_release(|lock, _| unlock(lock)),
    twin_a_touch_after_the_release_is_seen = freed::twin_a_touch_after_the_release_is_seen,
    a_handler_locks_while_its_thread_waits = sleep::a_handler_locks_while_its_thread_waits,
    a_deadline_is_kept_while_others_come_and_go = crowd::a_deadline_is_kept,
    #[cfg(all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")))]
    confined_to_one_cpu_all_come_to_their_turn = crowd::confined,
];

fn a_crowd_is_exclusive_and_nobody_hangs() {
    let slept = || WAITS.load(Relaxed) > 0 && WAKES.load(Relaxed) > 0;
    crowd::crowd::<RawSpinLock<Counting>>(slept);
    println!("  {} waits, {} wakes", WAITS.load(Relaxed), WAKES.load(Relaxed));
    assert!(slept(), "nobody slept: the crowd shows nothing");
}

/// Ends the process when no thread makes progress any more: the crowd may run for hours.
pub(crate) fn alarm() {
    call::alarm(HANG_S);
}

pub(crate) fn unlock<R: RawMutex>(lock: &R) {
    // SAFETY: each caller holds it.
    unsafe { lock.unlock() };
}
