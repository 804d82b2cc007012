//! The locks of portable slots, and the high-water mark of the slots that were ever used.
//!
//! The protocol is generic over [`SlotLocks`], so that models can replace the words.
//!
//! # States
//! A slot's lock is 0, or its holder's token. The *high-water mark* is above every slot that was ever locked for a change, or returned
//! by [`likely_free`]: a sum need not look past it. It never falls.
//!
//! # Invariants
//! 1. Between a successful `acquire` of a slot's lock and its `release`, no other thread changes the slot.
//! 2. A thread that finds a lock taken goes to the next slot. So a signal handler never waits for the thread that it interrupted, and a
//!    thread that is preempted while it holds a lock delays no other.
//! 3. The mark is above a slot before the slot is first changed. Whoever comes after a change, however that is ordered, finds the mark
//!    above its slot: the changer raised it or read it there before the change, and no later
//!    load of one word returns an earlier value. So Relaxed is enough.
//!
//! # Memory ordering
//! Acquiring a lock synchronizes with its last release. The mark orders nothing.

#[cfg(all(test, feature = "std"))]
mod tests;

/// How many portable slots there are.
// More than CPUs that contend for them on most machines without rseq; 64 KiB of address space each.
pub(super) const PORTABLE: usize = if cfg!(loom) { 4 } else { 32 };

/// The words of the protocol.
pub(super) trait SlotLocks {
    const COUNT: usize;

    /// Whether a slot's lock is 0. Relaxed: a guess.
    fn is_free(&self, n: usize) -> bool;
    /// Exchanges a slot's lock from 0 to `token`; false where it is not 0. Acquire: pairs with `release`.
    fn acquire(&self, n: usize, token: u64) -> bool;
    /// Stores 0. Release: pairs with `acquire`.
    fn release(&self, n: usize);
    /// The mark. Relaxed (Invariant 3).
    fn high_water(&self) -> usize;
    /// Raises the mark to `to`, unless it is above. Relaxed (Invariant 3).
    fn raise(&self, to: usize);
}

/// Locks a slot to change it; false where it is locked.
#[inline]
pub(super) fn try_lock(locks: &impl SlotLocks, n: usize, token: u64) -> bool {
    if !locks.acquire(n, token) {
        return false;
    }
    mark(locks, n);
    true
}

fn mark(locks: &impl SlotLocks, n: usize) {
    if locks.high_water() <= n {
        locks.raise(n + 1);
    }
}

/// Locks the first slot that is free, from `start` on; calls `wait` after each round without one.
#[inline]
pub(super) fn lock_any<W: SlotLocks>(locks: &W, start: usize, token: u64, mut wait: impl FnMut()) -> usize {
    loop {
        for n in (start..W::COUNT).chain(0..start) {
            if try_lock(locks, n, token) {
                return n;
            }
        }
        wait();
    }
}

/// Returns when the slot's holder, if any, has released it; false where `wait` gives up. Does not lock it for a change.
pub(super) fn wait_until_released(
    locks: &impl SlotLocks,
    n: usize,
    token: u64,
    mut wait: impl FnMut() -> bool,
) -> bool {
    while !locks.acquire(n, token) {
        if !wait() {
            return false;
        }
    }
    locks.release(n);
    true
}

/// A slot that looks free, from `start` on; if none does, `start` after a wait. It is below the mark from now on, whether or not
/// the caller changes it.
pub(super) fn likely_free<W: SlotLocks>(locks: &W, start: usize, wait: impl FnOnce()) -> usize {
    let mut all = (start..W::COUNT).chain(0..start);
    let n = all.find(|&n| locks.is_free(n)).unwrap_or_else(|| {
        wait();
        start
    });
    mark(locks, n);
    n
}
