//! The locks whose head sleeps: a static table that every release checks.
//!
//! After the store that releases a lock, the next holder may free the lock's memory, so a release does not touch the lock
//! again. It uses the lock's address as a number: one static word counts the sleeping heads of the whole
//! program, and a static table by address says whose they are.
//!
//! # Invariants
//! 1. A head that sleeps until it is woken is counted in [`Sleepers::count`] and registered in its lock's entry. Both happen
//!    before a heavy barrier, after which it found the lock held. So that lock's release sees both after the
//!    light barrier (see `park`).
//! 2. The thread that removes a registration from its entry decrements the count, once: the entry is changed by compare-and-exchange, and
//!    registrations differ by a number of 16 bits.
//! 3. A thread that removes another's registration wakes its owner, unless a fork left the owner behind in another process.
//!
//! # Cost
//! A release loads a word that changes only when a head goes to sleep or wakes. While any head in the program
//! sleeps, it also loads an entry of the table.

use super::nodes::{ASLEEP, HEAD, NodeIndex};
use super::park::{self, Park};
use crate::primitive::{AtomicU16, AtomicU32, array, cold_path, fence, global};
use core::marker::PhantomData;
use core::mem::forget;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

/// Entries. If two locks that share one both have a sleeping head, the second head naps.
const ENTRIES: usize = if cfg!(loom) { 1 } else { 64 };

/// The sleeping heads of all locks.
pub(super) struct Sleepers {
    /// How many, including those that are registering or being removed.
    count: AtomicU32,
    /// Registrations by the lock's address: the sleeper's node in the low half, its number in the high half; 0 for none.
    entries: [AtomicU32; ENTRIES],
    /// The next registration's number.
    next: AtomicU16,
}

/// An entry that [`Sleepers::register`] wrote.
#[derive(Clone, Copy)]
pub(super) struct Registration(u32);

impl Sleepers {
    /// Whether a release has to check the table.
    #[inline(always)]
    pub(super) fn any(&self) -> bool {
        // Relaxed: ordered by the barriers (Invariant 1).
        self.count.load(Relaxed) != 0
    }

    /// Registers the head of the lock at `key`; `None` if another lock's head has the entry.
    pub(super) fn register(&self, key: usize, node: NodeIndex) -> Option<Registration> {
        // Relaxed: a number only.
        let number = u32::from(self.next.fetch_add(1, Relaxed));
        let registration = number << 16 | u32::from(node.number());
        // Relaxed: the heavy barrier follows (Invariant 1).
        self.count.fetch_add(1, Relaxed);
        // AcqRel: pairs with the Acquire in `wake`, which goes on to the node. Acquire on failure: the same here.
        while let Err(found) = self.entries[entry(key)].compare_exchange(0, registration, AcqRel, Acquire) {
            if NodeIndex::from_tail(found as u16).is_none_or(NodeIndex::is_ours) || !self.remove(key, found) {
                self.count.fetch_sub(1, Relaxed);
                return None;
            }
            // Left behind by a fork: the sleeper is in another process.
        }
        Some(Registration(registration))
    }

    /// Removes the registration, unless a release has, in order to wake the caller.
    pub(super) fn unregister(&self, key: usize, registration: Registration) {
        self.remove(key, registration.0);
    }

    /// Wakes the head of the lock at `key` if it sleeps. The lock may already be freed.
    pub(super) fn wake<P: Park>(&self, key: usize) {
        // Acquire: pairs with the AcqRel in `register`.
        let registration = self.entries[entry(key)].load(Acquire);
        let Some(index) = NodeIndex::from_tail(registration as u16) else {
            return;
        };
        let node = index.node();
        // Relaxed: written before the registration. Another lock's release wakes another lock's head.
        if node.key.load(Relaxed) != key || !self.remove(key, registration) {
            return;
        }
        // Relaxed: the lock orders what was done under it. Fails if the head has woken by itself, or
        // the node has another waiter by now: that one sleeps on, or checks again.
        let _ = node.state.compare_exchange(ASLEEP, HEAD, Relaxed, Relaxed);
        park::wake::<P>(&node.state);
    }

    fn remove(&self, key: usize, registration: u32) -> bool {
        // Relaxed: the caller reads nothing through it.
        let taken = self.entries[entry(key)]
            .compare_exchange(registration, 0, Relaxed, Relaxed)
            .is_ok();
        if taken {
            self.count.fetch_sub(1, Relaxed);
        }
        taken
    }
}

/// Fibonacci hashing: locks are at least 4 bytes apart, and usually farther.
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

/// The check for sleepers that follows every release of the lock at `key`.
#[inline(always)]
pub(super) fn released<P: Park>(key: usize) {
    if P::SLEEPS {
        // Generates no code if the barrier cannot unwind.
        let check = CheckOnUnwind::<P>(key, PhantomData);
        P::light();
        forget(check);
        if sleepers().any() {
            cold_path();
            wake_slow::<P>(key);
        }
    }
}

/// Takes only the key, so that the fast path keeps no other register.
#[cold]
#[inline(never)]
fn wake_slow<P: Park>(key: usize) {
    sleepers().wake::<P>(key);
}

/// The check for sleepers where the program's barrier unwinds.
struct CheckOnUnwind<P: Park>(usize, PhantomData<P>);

impl<P: Park> Drop for CheckOnUnwind<P> {
    #[cold]
    fn drop(&mut self) {
        // Replaces the light barrier, and is stronger.
        fence(SeqCst);
        if sleepers().any() {
            wake_slow::<P>(self.0);
        }
    }
}
