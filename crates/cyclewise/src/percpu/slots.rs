//! Slots: the CPUs' own, and the portable ones, each of which has a lock.
//!
//! # States
//! Slots below [`id_bound`](registration::id_bound) belong to CPUs or `mm_cid`s; the next [`PORTABLE`] are the portable backend's. Which
//! CPU slots were ever used is not recorded, since that would cost every addition an instruction. Of the portable slots the
//! high-water mark records it (see `slot_locks`).
//!
//! # Priorities
//! A thread waits for a portable slot when all are locked, or when it steals; see `backoff`.

use super::backoff::Backoff;
use super::portable::ProcessLocks;
use super::slot_locks::{self, PORTABLE, SlotLocks};
use super::thread::{prefer, preferred};
use super::{registration, thread};
use crate::error::Refusal;

/// How long to wait for the holder of a portable slot: ten seconds, longer than any thread that may run is kept from its CPU.
const LIMIT_NS: u64 = 10_000_000_000;

/// A copy, by number.
///
/// # Examples
/// ```
/// use cyclewise::percpu::{PerCpu, Slot};
///
/// let hits = PerCpu::<u64>::new();
/// hits.add(3);
/// // Each CPU's share.
/// for slot in Slot::all() {
///     if hits.get(slot) != 0 {
///         println!("{} on {}", hits.get(slot), slot.number());
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub(super) u32);

impl Slot {
    /// Every slot that can hold anything: those of all CPUs that this kernel can have, and the portable ones that were ever
    /// used. Changes that happened before this call are in these.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        (0..(registration::id_bound() + ProcessLocks.high_water()) as u32).map(Self)
    }

    /// The same, portable slots first: access to those takes a lock, to the others a barrier.
    pub(super) fn portable_first() -> impl Iterator<Item = Self> {
        let bound = registration::id_bound();
        (bound..bound + ProcessLocks.high_water())
            .chain(0..bound)
            .map(|n| Self(n as u32))
    }

    /// The copy of a CPU, or of an `mm_cid`; `None` past the last that this kernel can have.
    pub fn from_id(id: u32) -> Option<Self> {
        ((id as usize) < registration::id_bound()).then_some(Self(id))
    }

    /// Its number, from 0. A CPU's slot has the CPU's number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// Its number among the portable slots, if it is one.
    pub(super) fn portable(self) -> Option<usize> {
        (self.0 as usize)
            .checked_sub(registration::id_bound())
            .filter(|&n| n < PORTABLE)
    }

    fn of_portable(n: usize) -> Self {
        Self((registration::id_bound() + n) as u32)
    }
}

pub(super) fn slot_count() -> usize {
    registration::id_bound() + PORTABLE
}

/// A portable slot that the calling thread has locked, until this is dropped.
pub(super) struct LockedSlot(usize);

impl LockedSlot {
    /// Locks any slot, preferably the calling thread's last one.
    pub(super) fn any() -> Self {
        let start = preferred();
        let mut backoff = Backoff::unlimited();
        let n = slot_locks::lock_any(&ProcessLocks, start, thread::token(), || {
            backoff.wait();
        });
        if n != start {
            prefer(n);
        }
        Self(n)
    }

    /// Locks this slot, unless it is locked.
    pub(super) fn try_lock(n: usize) -> Option<Self> {
        // Lazily: dropping a `Self` whose lock was not taken would release another thread's lock.
        slot_locks::try_lock(&ProcessLocks, n, thread::token()).then(|| Self(n))
    }

    /// Waits for this slot. For remote access only.
    ///
    /// # Errors
    /// The holder does not release it within [`LIMIT_NS`].
    pub(super) fn wait(n: usize) -> Result<Self, Refusal> {
        Self::wait_for(n, LIMIT_NS)
    }

    /// The same with this limit.
    pub(super) fn wait_for(n: usize, limit_ns: u64) -> Result<Self, Refusal> {
        // This may be the thread's first use of the module; operations have chosen a backend before.
        registration::register_atfork();
        let mut backoff = Backoff::with_limit_ns(limit_ns);
        loop {
            if let Some(locked) = Self::try_lock(n) {
                return Ok(locked);
            }
            if !backoff.wait() {
                return Err(Refusal::SlotHeld);
            }
        }
    }

    /// Returns when every thread that held a portable slot before the call has released it.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub(super) fn wait_for_all_released() -> Result<(), Refusal> {
        registration::register_atfork();
        let mut backoff = Backoff::with_limit_ns(LIMIT_NS);
        let token = thread::token();
        if (0..PORTABLE).all(|n| slot_locks::wait_until_released(&ProcessLocks, n, token, || backoff.wait())) {
            Ok(())
        } else {
            Err(Refusal::SlotHeld)
        }
    }

    pub(super) fn slot(&self) -> Slot {
        Slot::of_portable(self.0)
    }
}

impl Drop for LockedSlot {
    #[inline]
    fn drop(&mut self) {
        ProcessLocks.release(self.0);
    }
}

/// A portable slot that looks unlocked, for a caller that will lock it by number.
pub(super) fn likely_free() -> Slot {
    let wait = || {
        let mut backoff = Backoff::unlimited();
        while backoff.is_spinning() {}
        backoff.wait();
    };
    Slot::of_portable(slot_locks::likely_free(&ProcessLocks, preferred(), wait))
}

/// The address in `slot` of a word at `at` in slot 0.
#[inline(always)]
pub(super) fn copy_in<T>(at: *mut T, slot: Slot) -> *mut T {
    at.wrapping_byte_add((slot.0 as usize) << crate::arch::SHIFT)
}
