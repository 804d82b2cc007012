//! The locks of portable slots: which thread a slot is just now, and which slots were ever anybody's.
//!
//! The protocol is over [`SlotLocks`] that a model can put others in place of.
//!
//! # States
//! A slot's lock is 0, or a number of the thread that has it. The *mark* is above every slot that was ever taken to be
//! changed, or named to somebody: who adds all slots up need not look past it. It rises, and never falls.
//!
//! # Invariants
//! 1. Between a successful exchange of a slot's lock and the store that gives it back, nobody else changes the slot.
//! 2. Whoever finds a lock taken goes to the next slot. So a signal handler never waits for what it interrupted, and a
//!    thread that was preempted with a lock holds up nobody.
//! 3. The mark is above a slot before the slot is first changed. So whoever comes after a change, in whatever way that is
//!    ordered, finds the mark above its slot: the changer raised it, or read it so high, before the change, and no later
//!    load of one word finds an earlier value. Relaxed is enough for that.
//!
//! # Memory ordering
//! Taking a lock acquires what giving it back released. The mark orders nothing.

#[cfg(all(test, feature = "std"))]
mod tests;

/// What the protocol is made of.
pub(super) trait SlotLocks {
    /// How many slots.
    const COUNT: usize;

    /// Whether a slot's lock is 0. Relaxed: a guess.
    fn is_free(&self, n: usize) -> bool;
    /// Exchanges a slot's lock from 0 to this; false where it is not 0. Acquire: pairs with `give_back`.
    fn take(&self, n: usize, token: u64) -> bool;
    /// Stores 0. Release: pairs with `take`.
    fn give_back(&self, n: usize);
    /// The mark. Relaxed (Invariant 3).
    fn mark(&self) -> usize;
    /// Raises the mark to `to`, unless it is above. Relaxed (Invariant 3).
    fn raise(&self, to: usize);
}

/// Takes a slot to change it; false where it is taken.
#[inline]
pub(super) fn try_lock(locks: &impl SlotLocks, n: usize, token: u64) -> bool {
    if !locks.take(n, token) {
        return false;
    }
    mark(locks, n);
    true
}

fn mark(locks: &impl SlotLocks, n: usize) {
    if locks.mark() <= n {
        locks.raise(n + 1);
    }
}

/// Takes the first slot that is free, `start` for preference; `wait` between two looks at them all.
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

/// Returns when nobody who had the slot's lock before has it any more; false where `wait` has had enough. It is not taken to be
/// changed.
pub(super) fn wait_until_released(
    locks: &impl SlotLocks,
    n: usize,
    token: u64,
    mut wait: impl FnMut() -> bool,
) -> bool {
    while !locks.take(n, token) {
        if !wait() {
            return false;
        }
    }
    locks.give_back(n);
    true
}

/// A slot that looks free, `start` for preference; where none does, after a moment. It is below the mark from now on,
/// whatever its caller does there.
pub(super) fn likely_free<W: SlotLocks>(locks: &W, start: usize, wait: impl FnOnce()) -> usize {
    let mut all = (start..W::COUNT).chain(0..start);
    let n = all.find(|&n| locks.is_free(n)).unwrap_or_else(|| {
        wait();
        start
    });
    mark(locks, n);
    n
}
