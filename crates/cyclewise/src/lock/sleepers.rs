//! Which locks have a head that sleeps: what a release looks at once the lock is no longer its own.
//!
//! After the store that releases a lock, the next holder may free the memory that the lock is in. So nothing of the lock
//! is touched from there on. Its address is a number still, and this is a static: how many heads sleep in the whole
//! program, in one word that every release looks at, and behind it a table by address that says whose.
//!
//! # Invariants
//! 1. A head that sleeps until it is woken has counted itself in [`Sleepers::count`] and is in its lock's entry. It did both
//!    before the heavy barrier behind which it found the lock held. So that lock's release sees both, behind the
//!    light barrier (see `park`).
//! 2. Whoever takes a registration out of its entry counts it off, once: the entry is changed by compare-and-exchange, and
//!    a registration has a number of its own as far as 16 bits go.
//! 3. Who takes it out and is not its owner wakes the owner, unless that is in another process, which fork has left it
//!    behind of.
//!
//! # Cost
//! A release: a look at a word that changes only when a head goes to sleep or wakes. While any head in the program
//! sleeps, a look at the table too.

use super::nodes::{ASLEEP, HEAD, NodeIndex};
use super::park::{self, Park};
use crate::primitive::{AtomicU16, AtomicU32, array, global};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// Entries. Two locks that share one can both have a sleeping head: the second naps.
const ENTRIES: usize = if cfg!(loom) { 1 } else { 64 };

/// The heads that sleep, of all locks.
pub(super) struct Sleepers {
    /// How many, and those who are on their way in or out.
    count: AtomicU32,
    /// Registrations by the lock's address: the sleeper's place below, its number above; 0 for none.
    entries: [AtomicU32; ENTRIES],
    /// The next registration's number.
    next: AtomicU16,
}

/// What [`Sleepers::register`] has put down.
#[derive(Clone, Copy)]
pub(super) struct Registration(u32);

impl Sleepers {
    /// Whether a release has to look further.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        // Relaxed: the barriers order it (Invariant 1).
        self.count.load(Relaxed) != 0
    }

    /// Puts the head of the lock `key` down; none where another lock's is in the way.
    pub(super) fn register(&self, key: usize, place: NodeIndex) -> Option<Registration> {
        // Relaxed: a number only.
        let number = u32::from(self.next.fetch_add(1, Relaxed));
        let registration = number << 16 | u32::from(place.number());
        // Relaxed: the heavy barrier follows (Invariant 1).
        self.count.fetch_add(1, Relaxed);
        // AcqRel: pairs with the Acquire in `wake`, which follows the place to its slot. Acquire on failure: the same here.
        while let Err(found) = self.entries[entry(key)].compare_exchange(0, registration, AcqRel, Acquire) {
            if NodeIndex::of(found as u16).is_none_or(|place| place.node().is_ours()) || !self.take_out(key, found) {
                self.count.fetch_sub(1, Relaxed);
                return None;
            }
            // It was left behind by fork: whoever slept is in another process.
        }
        Some(Registration(registration))
    }

    /// Takes it out again, unless somebody has, in order to wake the caller.
    pub(super) fn withdraw(&self, key: usize, registration: Registration) {
        self.take_out(key, registration.0);
    }

    /// Wakes the head of the lock `key` if it sleeps. The lock may not exist any more.
    pub(super) fn wake<P: Park>(&self, key: usize) {
        // Acquire: pairs with the AcqRel in `register`.
        let registration = self.entries[entry(key)].load(Acquire);
        let Some(place) = NodeIndex::of(registration as u16) else {
            return;
        };
        let slot = place.node();
        // Relaxed: written before the registration. Another lock's head is for another release to wake.
        if slot.key.load(Relaxed) != key || !self.take_out(key, registration) {
            return;
        }
        // Relaxed: what was done under the lock is ordered by the lock. Fails where the head has woken by itself, or
        // the slot is another's by now: that one sleeps on, or looks again.
        let _ = slot.state.compare_exchange(ASLEEP, HEAD, Relaxed, Relaxed);
        park::wake::<P>(&slot.state);
    }

    fn take_out(&self, key: usize, registration: u32) -> bool {
        // Relaxed: nothing is read through it.
        let taken = self.entries[entry(key)]
            .compare_exchange(registration, 0, Relaxed, Relaxed)
            .is_ok();
        if taken {
            self.count.fetch_sub(1, Relaxed);
        }
        taken
    }
}

/// Locks are 4 bytes apart at least, and mostly farther: Fibonacci hashing spreads either.
fn entry(key: usize) -> usize {
    let hash = (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash.unbounded_shr(u64::BITS - ENTRIES.ilog2()) as usize
}

global! {
    pub(super) fn sleepers() -> &'static Sleepers {
        Sleepers {
            count: AtomicU32::new(0),
            entries: array![AtomicU32::new(0); ENTRIES],
            next: AtomicU16::new(0),
        }
    }
}
