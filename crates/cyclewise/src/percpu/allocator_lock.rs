//! The lock of the allocator's bookkeeping.
//!
//! # States
//! *Holder* is 0, or the id of the thread that holds the lock (see [`thread::id`]). *Turn* changes when the lock is released while threads
//! sleep, and is the word that they sleep on. *Sleepers* counts them.
//!
//! # Invariants
//! 1. One thread holds the lock. It is taken by an exchange from 0, or from the id of a thread of another process.
//! 2. A thread of another process was left behind by a fork. A thread of the child that wants the lock takes it over from that
//!    holder, before or after our atfork handler, or without one.
//!    The holder's work may be cut off anywhere (Invariant 3 of `allocator`).
//! 3. The holder's signals are blocked. So no signal handler waits for the thread that it interrupted, and none forks: its child would take
//!    the lock over from the thread that continues in the child. The handler of a fault, or of a filter's SIGSYS, finds its
//!    own thread's id, and is refused.
//!
//! # Memory ordering
//! Taking the lock acquires what its release released. A waiter counts itself and reads the holder again before it sleeps;
//! a release stores 0 and then reads the count. If both miss each other's store, the sleep times out after milliseconds.
//!
//! # Priorities
//! See `backoff`.

use super::backoff::{Backoff, wake};
use super::thread::{self, Holder};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

pub(super) struct AllocatorLock {
    holder: AtomicU64,
    turn: AtomicU32,
    sleepers: AtomicU32,
}

impl AllocatorLock {
    pub(super) const fn new() -> Self {
        Self {
            holder: AtomicU64::new(0),
            turn: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
        }
    }

    /// Locks; false where the calling thread holds the lock.
    pub(super) fn lock(&self) -> bool {
        let me = thread::id();
        let mut backoff = Backoff::unlimited();
        loop {
            let found = match self.exchange(0, me) {
                Ok(()) => return true,
                Err(found) => found,
            };
            match thread::holder(found, me) {
                Holder::Me => return false,
                Holder::LeftBehind => {
                    if self.exchange(found, me).is_ok() {
                        return true;
                    }
                }
                Holder::Another => {
                    if !backoff.is_spinning() {
                        self.sleep(found, &mut backoff);
                    }
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn is_locked(&self) -> bool {
        self.holder.load(Ordering::Acquire) != 0
    }

    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        // Acquire: pairs with the Release of `unlock`.
        self.holder
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
            .map(|_| ())
    }

    #[cold]
    fn sleep(&self, found: u64, backoff: &mut Backoff) {
        // SeqCst, here and in `unlock`: see the module's memory ordering.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Relaxed: only compared.
        let turn = self.turn.load(Ordering::Relaxed);
        if self.holder.load(Ordering::SeqCst) == found {
            backoff.sleep(&self.turn, turn);
        }
        // Relaxed: a release that reads the old count makes one call too many, at worst.
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Unlocks. By the holder.
    pub(super) fn unlock(&self) {
        // SeqCst is Release and more: pairs with the Acquire of `exchange`.
        self.holder.store(0, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            // Relaxed: the kernel compares it before it puts a thread to sleep, and orders that with the wake.
            self.turn.fetch_add(1, Ordering::Relaxed);
            wake(&self.turn);
        }
    }
}
