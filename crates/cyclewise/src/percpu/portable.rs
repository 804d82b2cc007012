//! The locks of the process's portable slots.
//!
//! # Forks
//! A child of a fork finds portable slots locked by threads that it does not have. Its atfork handler unlocks those. Until that
//! runs, and in a child made without handlers, threads use the other slots; an operation that needs one particular slot fails
//! with [`SlotHeld`](crate::error::Refusal::SlotHeld).

use super::slot_locks::{PORTABLE, SlotLocks};
use super::thread::{self, Holder};
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A lock that shares its cache line with no other.
#[repr(align(128))]
struct Lock(AtomicU64);

static LOCKS: [Lock; PORTABLE] = [const { Lock(AtomicU64::new(0)) }; PORTABLE];
static HIGH_WATER: AtomicUsize = AtomicUsize::new(0);

/// The process's locks.
pub(super) struct ProcessLocks;

impl SlotLocks for ProcessLocks {
    const COUNT: usize = PORTABLE;

    fn is_free(&self, n: usize) -> bool {
        LOCKS.get(n).is_some_and(|lock| lock.0.load(Ordering::Relaxed) == 0)
    }

    #[inline]
    fn acquire(&self, n: usize, token: u64) -> bool {
        let free = |lock: &Lock| {
            // Acquire: pairs with the Release of `release`.
            let taken = lock.0.compare_exchange(0, token, Ordering::Acquire, Ordering::Relaxed);
            taken.is_ok()
        };
        LOCKS.get(n).is_some_and(free)
    }

    #[inline]
    fn release(&self, n: usize) {
        if let Some(lock) = LOCKS.get(n) {
            // Release: pairs with the Acquire of `acquire`.
            lock.0.store(0, Ordering::Release);
        }
    }

    #[inline]
    fn high_water(&self) -> usize {
        // Relaxed: see Invariant 3 of `slot_locks`.
        HIGH_WATER.load(Ordering::Relaxed)
    }

    #[cold]
    fn raise(&self, to: usize) {
        // Relaxed: see Invariant 3 of `slot_locks`.
        HIGH_WATER.fetch_max(to, Ordering::Relaxed);
    }
}

/// In the child of a fork, in the thread that forked: unlocks what threads held that the child does not have. Threads that an
/// earlier handler started keep their locks. A lock that the forking thread held when a signal interrupted it is still that thread's,
/// under its new token.
#[allow(dead_code, reason = "builds without areas register no atfork handler")]
pub(super) fn after_fork(old_token: u64, new_token: u64) {
    for lock in &LOCKS {
        // Relaxed, twice: no other thread changes a lock that this thread, or one that is not here, has.
        let holder = lock.0.load(Ordering::Relaxed);
        let to = if holder == old_token { new_token } else { 0 };
        if holder != 0 && thread::holder(holder, new_token) == Holder::LeftBehind {
            lock.0.store(to, Ordering::Relaxed);
        }
    }
}
