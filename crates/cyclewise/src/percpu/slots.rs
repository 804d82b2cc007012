//! Slots: the CPUs' own, and the portable backend's, which are taken by a lock.
//!
//! # States
//! Numbers below `ids` are the CPUs', or the `mm_cid`s; the next [`PORTABLE`] are the portable backend's. Which of the
//! CPUs' were ever used nobody keeps account of, since that would cost every addition an instruction; which of the
//! others, their mark does (see `slot_locks`).
//!
//! # Forks
//! A child of a fork finds portable slots taken by threads that it does not have. Its handler gives those back; before that runs, and
//! where the child was made without handlers, threads of the child use the other slots, and who wants one of these in particular, to
//! steal from it or to be past it, is refused in the end.
//!
//! # Priorities
//! A slot is waited for where all are taken, and by who steals; see `wait`.

use super::backoff::Backoff;
use super::registration::{self, Holder};
use super::slot_locks::{self, SlotLocks};
use crate::error::Refusal;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// How many portable slots there are.
// More than CPUs that contend for them on most machines without rseq; 64 KiB of address space each.
pub(super) const PORTABLE: usize = if cfg!(loom) { 4 } else { 32 };

/// How long is waited for the holder of a portable slot: ten seconds, longer than any thread that may run is kept from it.
const LIMIT_NS: u64 = 10_000_000_000;

/// A copy, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Every slot that can hold anything: those of all CPUs that this kernel can have, and the portable ones that were ever
    /// used. Changes that happened before this call are in these.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..(registration::ids() + ProcessLocks.mark()) as u32).map(Self)
    }

    /// The same, the portable ones first: those are had by a lock, and the others by a barrier.
    pub(super) fn portable_first() -> impl Iterator<Item = Self> {
        let ids = registration::ids();
        (ids..ids + ProcessLocks.mark()).chain(0..ids).map(|n| Self(n as u32))
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
struct Lock(AtomicU64);

static LOCKS: [Lock; PORTABLE] = [const { Lock(AtomicU64::new(0)) }; PORTABLE];
static MARK: AtomicUsize = AtomicUsize::new(0);

/// The process's locks.
struct ProcessLocks;

impl SlotLocks for ProcessLocks {
    const COUNT: usize = PORTABLE;

    fn is_free(&self, n: usize) -> bool {
        LOCKS.get(n).is_some_and(|lock| lock.0.load(Ordering::Relaxed) == 0)
    }

    #[inline]
    fn take(&self, n: usize, token: u64) -> bool {
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
        // Relaxed: see Invariant 3 of `slot_locks`.
        MARK.load(Ordering::Relaxed)
    }

    #[cold]
    fn raise(&self, to: usize) {
        // Relaxed: see Invariant 3 of `slot_locks`.
        MARK.fetch_max(to, Ordering::Relaxed);
    }
}

/// A portable slot, taken.
pub(super) struct LockedSlot(usize);

impl LockedSlot {
    /// Any slot, the calling thread's last one for preference.
    pub(super) fn any() -> Self {
        let start = registration::preferred();
        let mut backoff = Backoff::unlimited();
        let n = slot_locks::lock_any(&ProcessLocks, start, registration::token(), || {
            backoff.wait();
        });
        if n != start {
            registration::prefer(n);
        }
        Self(n)
    }

    /// This slot, unless it is taken.
    pub(super) fn try_lock(n: usize) -> Option<Self> {
        // Lazily: one that was not taken must not be dropped, which would give another's lock back.
        slot_locks::try_lock(&ProcessLocks, n, registration::token()).then(|| Self(n))
    }

    /// Waits for this slot. For remote access only.
    ///
    /// # Errors
    /// Where its holder does not go on within [`LIMIT_NS`].
    pub(super) fn wait(n: usize) -> Result<Self, Refusal> {
        Self::wait_for(n, LIMIT_NS)
    }

    /// The same, for so long.
    pub(super) fn wait_for(n: usize, limit_ns: u64) -> Result<Self, Refusal> {
        // It may be the first that is heard of the module; operations have decided by which backend before.
        registration::register_atfork();
        let mut backoff = Backoff::with_limit_ns(limit_ns);
        loop {
            if let Some(taken) = Self::try_lock(n) {
                return Ok(taken);
            }
            if !backoff.wait() {
                return Err(Refusal::SlotHeld);
            }
        }
    }

    /// Returns when nobody has a portable slot any more that had it before.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub(super) fn pass_all() -> Result<(), Refusal> {
        registration::register_atfork();
        let mut backoff = Backoff::with_limit_ns(LIMIT_NS);
        let token = registration::token();
        if (0..PORTABLE).all(|n| slot_locks::wait_until_released(&ProcessLocks, n, token, || backoff.wait())) {
            Ok(())
        } else {
            Err(Refusal::SlotHeld)
        }
    }

    /// The slot.
    pub(super) fn slot(&self) -> Slot {
        Slot::of_portable(self.0)
    }
}

impl Drop for LockedSlot {
    #[inline]
    fn drop(&mut self) {
        ProcessLocks.give_back(self.0);
    }
}

/// A portable slot that looks free now, for who will take it by number.
pub(super) fn likely() -> Slot {
    let wait = || {
        let mut backoff = Backoff::unlimited();
        while backoff.is_spinning() {}
        backoff.wait();
    };
    Slot::of_portable(slot_locks::likely_free(&ProcessLocks, registration::preferred(), wait))
}

/// In the child of a fork, in the thread that forked: gives back what threads held that the child does not have. What threads
/// hold that an earlier handler has made is theirs, and what this one was interrupted in is its own still, by its new token.
#[cfg_attr(
    not(all(feature = "std", target_os = "linux", not(loom))),
    expect(dead_code, reason = "nobody tells of forks there")
)]
pub(super) fn after_fork() {
    let (before, now) = registration::renew();
    for lock in &LOCKS {
        // Relaxed, twice: nobody else changes a lock that this thread, or one that is not here, has.
        let holder = lock.0.load(Ordering::Relaxed);
        let to = if holder == before { now } else { 0 };
        if holder != 0 && registration::holder(holder, now) == Holder::LeftBehind {
            lock.0.store(to, Ordering::Relaxed);
        }
    }
}

/// The place of a word of slot 0, in `slot`.
#[inline(always)]
pub(super) fn copy_in<T>(at: *mut T, slot: Slot) -> *mut T {
    at.wrapping_byte_add((slot.0 as usize) << crate::arch::SHIFT)
}
