//! Slots: the CPUs' own, and the portable backend's, which are taken by a lock.
//!
//! # States
//! Numbers below `ids` are the CPUs', or the `mm_cid`s; the next [`PORTABLE`] are the portable backend's. Which of the
//! CPUs' were ever used nobody keeps account of, since that would cost every addition an instruction; which of the
//! others, their mark does (see `locks`).

use super::locks::{self, Words};
use super::registration;
use core::sync::atomic::{AtomicUsize, Ordering};

/// How many portable slots there are.
// More than CPUs that contend for them on most machines without rseq; 64 KiB of address space each.
pub(super) const PORTABLE: usize = if cfg!(any(miri, loom)) { 4 } else { 32 };

/// A copy, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Every slot that can hold anything: those of all CPUs that this kernel can have, and the portable ones that were ever
    /// used. Changes that happened before this call are in these.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..(registration::ids() + REAL.mark()) as u32).map(Self)
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

    fn of_portable(n: usize) -> Self {
        Self((registration::ids() + n) as u32)
    }
}

/// How many slots there are, used or not.
pub(super) fn total() -> usize {
    registration::ids() + PORTABLE
}

/// A lock that shares its cache line with no other.
#[repr(align(128))]
struct Lock(AtomicUsize);

static LOCKS: [Lock; PORTABLE] = [const { Lock(AtomicUsize::new(0)) }; PORTABLE];
static MARK: AtomicUsize = AtomicUsize::new(0);

/// The process's locks.
struct Real;
const REAL: Real = Real;

impl Words for Real {
    const COUNT: usize = PORTABLE;

    fn is_free(&self, n: usize) -> bool {
        LOCKS.get(n).is_some_and(|lock| lock.0.load(Ordering::Relaxed) == 0)
    }

    #[inline]
    fn take(&self, n: usize, token: usize) -> bool {
        let free = |lock: &Lock| {
            // Acquire: pairs with the Release of `give_back`.
            let taken = lock.0.compare_exchange(0, token, Ordering::Acquire, Ordering::Relaxed);
            taken.is_ok()
        };
        LOCKS.get(n).is_some_and(free)
    }

    #[inline]
    fn give_back(&self, n: usize) {
        if let Some(lock) = LOCKS.get(n) {
            // Release: pairs with the Acquire of `take`.
            lock.0.store(0, Ordering::Release);
        }
    }

    #[inline]
    fn mark(&self) -> usize {
        // Relaxed: see Invariant 3 of `locks`.
        MARK.load(Ordering::Relaxed)
    }

    #[cold]
    fn raise(&self, to: usize) {
        // Relaxed: as above.
        MARK.fetch_max(to, Ordering::Relaxed);
    }
}

/// A portable slot, taken.
pub(super) struct Taken(usize);

impl Taken {
    /// Any slot, the calling thread's last one for preference.
    pub(super) fn any() -> Self {
        let start = registration::preferred();
        let n = locks::any(&REAL, start, registration::token(), || {
            core::hint::spin_loop();
            crate::sys::task::yield_now();
        });
        if n != start {
            registration::prefer(n);
        }
        Self(n)
    }

    /// This slot, unless it is taken.
    pub(super) fn one(n: usize) -> Option<Self> {
        // Lazily: one that was not taken must not be dropped, which would give another's lock back.
        locks::one(&REAL, n, registration::token()).then(|| Self(n))
    }

    /// Waits for this slot; none past the last. For remote access only.
    pub(super) fn wait(n: usize) -> Option<Self> {
        LOCKS.get(n)?;
        // It may be the first that is heard of the module; operations have decided by which backend before.
        registration::heed_forks();
        loop {
            if let Some(taken) = Self::one(n) {
                return Some(taken);
            }
            crate::sys::task::yield_now();
        }
    }

    /// Returns when nobody has a portable slot any more that had it before.
    pub(super) fn pass_all() {
        registration::heed_forks();
        for n in 0..PORTABLE {
            locks::pass(&REAL, n, registration::token(), crate::sys::task::yield_now);
        }
    }

    /// The slot.
    pub(super) fn slot(&self) -> Slot {
        Slot::of_portable(self.0)
    }
}

impl Drop for Taken {
    #[inline]
    fn drop(&mut self) {
        REAL.give_back(self.0);
    }
}

/// A portable slot that looks free now, for who will take it by number.
pub(super) fn likely() -> Slot {
    Slot::of_portable(locks::likely(&REAL, registration::preferred()))
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
