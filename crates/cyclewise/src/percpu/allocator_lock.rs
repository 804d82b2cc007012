//! The lock of the areas' bookkeeping.
//!
//! # States
//! *Holder* is 0, or the name of the thread that has it (see [`registration::name`]). *Turn* changes when it is given back while somebody
//! sleeps, and is what is slept on. *Sleepers* counts those.
//!
//! # Invariants
//! 1. One thread has it. It is taken by an exchange from 0, or from the name of a thread of another process than this one.
//! 2. A thread of another process is one of the process that this one was forked from: the holder was left behind there. So
//!    whoever wants the lock in the child takes it over as it is, before our fork handler has run, after it, or where it never runs.
//!    What holders do may be cut off anywhere (Invariant 3 of `allocator`).
//! 3. The holder's signals are blocked, so no handler waits for what it interrupted, and none forks: its child would take
//!    the lock over from the thread that goes on in the child. The handler of a fault, or of a filter's SIGSYS, finds its
//!    own name, and is refused.
//!
//! # Memory ordering
//! Taking it acquires what giving it back released. A waiter counts itself and looks at the holder again before it sleeps, and
//! who gives it back stores 0 and looks for sleepers: if both miss each other the sleep ends milliseconds later.
//!
//! # Priorities
//! See `wait`.

use super::backoff::{Backoff, wake};
use super::registration::{self, Holder};
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

    /// Takes it; false where the calling thread has it.
    pub(super) fn take(&self) -> bool {
        let me = registration::name();
        let mut backoff = Backoff::unlimited();
        loop {
            let found = match self.exchange(0, me) {
                Ok(()) => return true,
                Err(found) => found,
            };
            match registration::holder(found, me) {
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
    pub(super) fn is_taken(&self) -> bool {
        self.holder.load(Ordering::Acquire) != 0
    }

    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        // Acquire: pairs with the Release of `give_back`.
        self.holder
            .compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed)
            .map(|_| ())
    }

    #[cold]
    fn sleep(&self, found: u64, backoff: &mut Backoff) {
        // SeqCst, here and in `give_back`: see the memory ordering of the module.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Relaxed: a number that is compared.
        let turn = self.turn.load(Ordering::Relaxed);
        if self.holder.load(Ordering::SeqCst) == found {
            backoff.sleep(&self.turn, turn);
        }
        // Relaxed: a sleeper less is told late at worst.
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Gives it back. By its holder.
    pub(super) fn give_back(&self) {
        // Release, and more: pairs with the Acquire of `exchange`.
        self.holder.store(0, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) != 0 {
            // Relaxed: whoever sleeps compares it in the kernel, which orders it with the wake.
            self.turn.fetch_add(1, Ordering::Relaxed);
            wake(&self.turn);
        }
    }
}
