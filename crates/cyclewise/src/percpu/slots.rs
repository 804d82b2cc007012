//! Slots: the CPUs' own, and the portable backend's, which are taken by a lock.
//!
//! # States
//! The lock of a portable slot is 0, or a number of the thread that has it.
//!
//! # Invariants
//! 1. Between a successful exchange of a slot's lock and the store that gives it back, nobody else changes the slot.
//! 2. Whoever finds a lock taken goes to the next slot. So a signal handler never waits for what it interrupted, and a
//!    thread that was preempted with a lock holds up nobody.
//!
//! # Memory ordering
//! Taking a lock acquires what giving it back released.

use super::registration;
use core::sync::atomic::{AtomicUsize, Ordering};

/// How many portable slots there are.
// More than CPUs that contend for them on most machines without rseq; 64 KiB of address space each.
pub(super) const PORTABLE: usize = if cfg!(any(miri, loom)) { 4 } else { 32 };

/// A copy, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Every slot there can be, used or not.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..total() as u32).map(Self)
    }

    /// The copy of a CPU, or of an `mm_cid`; `None` past the last that this kernel can have.
    pub fn of(id: u32) -> Option<Self> {
        ((id as usize) < registration::ids()).then_some(Self(id))
    }

    /// Its number, from 0. Those of CPUs are the CPUs' own.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Its portable number, if it is of that backend.
    pub(super) fn portable(self) -> Option<usize> {
        (self.0 as usize)
            .checked_sub(registration::ids())
            .filter(|&n| n < PORTABLE)
    }
}

/// How many slots there are.
pub(super) fn total() -> usize {
    registration::ids() + PORTABLE
}

/// A lock that shares its cache line with no other.
#[repr(align(128))]
struct Lock(AtomicUsize);

static LOCKS: [Lock; PORTABLE] = [const { Lock(AtomicUsize::new(0)) }; PORTABLE];

/// A portable slot, taken.
pub(super) struct Taken(usize);

impl Taken {
    /// Any slot, the calling thread's last one for preference.
    pub(super) fn any() -> Self {
        loop {
            let start = registration::preferred();
            for n in (start..PORTABLE).chain(0..start) {
                if let Some(taken) = Self::one(n) {
                    if n != start {
                        registration::prefer(n);
                    }
                    return taken;
                }
            }
            core::hint::spin_loop();
            crate::sys::task::yield_now();
        }
    }

    /// This slot, unless it is taken.
    pub(super) fn one(n: usize) -> Option<Self> {
        let lock = &LOCKS.get(n)?.0;
        // Acquire: pairs with the Release of the drop.
        lock.compare_exchange(0, registration::token(), Ordering::Acquire, Ordering::Relaxed)
            .ok()?;
        Some(Self(n))
    }

    /// Waits for this slot; none past the last. For remote access only.
    pub(super) fn wait(n: usize) -> Option<Self> {
        LOCKS.get(n)?;
        loop {
            if let Some(taken) = Self::one(n) {
                return Some(taken);
            }
            crate::sys::task::yield_now();
        }
    }

    /// The slot.
    pub(super) fn slot(&self) -> Slot {
        Slot((registration::ids() + self.0) as u32)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(lock) = LOCKS.get(self.0) {
            // Release: pairs with the Acquire of who takes it next.
            lock.0.store(0, Ordering::Release);
        }
    }
}

/// A portable slot that looks free now, for who will take it by number.
pub(super) fn likely() -> Slot {
    let start = registration::preferred();
    // Relaxed: a guess.
    let free = |n: &usize| LOCKS.get(*n).is_some_and(|l| l.0.load(Ordering::Relaxed) == 0);
    let n = (start..PORTABLE).chain(0..start).find(free).unwrap_or(start);
    Slot((registration::ids() + n) as u32)
}

/// In the child of a fork: gives back what threads held that the child does not have.
#[cfg_attr(
    not(all(feature = "std", target_os = "linux", not(any(miri, loom)))),
    expect(dead_code, reason = "nobody tells of forks there")
)]
pub(super) fn after_fork() {
    let mine = registration::token();
    for lock in &LOCKS {
        // Relaxed: the child has one thread.
        let holder = lock.0.load(Ordering::Relaxed);
        if holder != 0 && holder != mine {
            lock.0.store(0, Ordering::Relaxed);
        }
    }
}

/// The place of a word of slot 0, in `slot`.
#[inline(always)]
pub(super) fn place<T>(at: *mut T, slot: Slot) -> *mut T {
    at.wrapping_byte_add((slot.0 as usize) << crate::arch::SHIFT)
}
