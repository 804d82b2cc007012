//! Domains: sections that hold up nobody but their own domain's writers, and may therefore be long and sleep.
//!
//! # States
//! A slot: 0, free; 1, being taken; an even number from 2 on: a section that began in this period of the domain.
//!
//! # Safety
//! 1. A slot that is in the list stays there until the domain is dropped, and its `next` does not change.
#![expect(unsafe_code, reason = "slots by their address, freed with the domain")]

use super::protocol::{IDLE, NOBODY, STEP, is_older};
use super::queue::{Deferred, Periods, Queue};
use super::record::{self, DOMAIN_SECTIONS};
use super::stall::Wait;
use crate::error::Refusal;
use crate::fence;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU64};
use std::boxed::Box;

/// Sections and grace periods apart from the global ones, as the kernel's SRCU has them.
///
/// A section may sleep and last: it holds up this domain's grace periods alone. It costs a read-modify-write, and a search for a free slot
/// where threads are in sections at the same time.
///
/// Sections end before a domain is dropped, as they borrow it; closures that wait are run then.
///
/// # Examples
/// ```
/// use cyclewise::rcu::{Domain, Rcu};
///
/// let domain = Domain::new();
/// let value = Rcu::new_in(&domain, 1);
/// let guard = domain.read();
/// assert_eq!(*value.load(&guard), 1);
/// drop(guard);
/// value.replace(2);
/// domain.synchronize();
/// ```
#[derive(Debug)]
#[doc(alias = "srcu_struct")]
pub struct Domain {
    period: AtomicU64,
    slots: AtomicPtr<Slot>,
    queue: Queue,
}

#[derive(Debug)]
#[repr(align(128))]
struct Slot {
    state: AtomicU64,
    /// The serial and the id of the section's thread.
    serial: AtomicU64,
    thread: AtomicI32,
    next: *mut Slot,
}

/// A section of a [`Domain`]: while it lives, nothing that is loaded under it is freed. It may sleep.
#[derive(Debug)]
#[must_use = "the section ends when this is dropped"]
pub struct DomainGuard<'d> {
    pub(super) domain: &'d Domain,
    slot: &'d Slot,
    of_this_thread: PhantomData<*mut ()>,
}

impl Domain {
    /// A domain without sections.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            period: AtomicU64::new(STEP),
            slots: AtomicPtr::new(null_mut()),
            queue: Queue::new(),
        }
    }

    fn slots(&self) -> impl Iterator<Item = &Slot> {
        // Acquire: pairs with the AcqRel in `add`.
        let mut at = self.slots.load(Acquire);
        core::iter::from_fn(move || {
            // SAFETY: null, or a slot, which lives as long as the domain.
            let slot = unsafe { at.as_ref() }?;
            at = slot.next;
            Some(slot)
        })
    }

    /// Begins a section.
    ///
    /// # Cost
    /// A read-modify-write, three stores and a light [fence](mod@crate::fence).
    #[doc(alias = "srcu_read_lock")]
    pub fn read(&self) -> DomainGuard<'_> {
        let me = record::registered();
        let is_taken = |slot: &&Slot| {
            // Acquire: pairs with the Release of the last section's end.
            slot.state.load(Relaxed) == NOBODY && slot.state.compare_exchange(NOBODY, IDLE, Acquire, Relaxed).is_ok()
        };
        let slot = self.slots().find(is_taken).unwrap_or_else(|| self.add());
        slot.serial.store(me.serial(), Relaxed);
        slot.thread.store(me.thread(), Relaxed);
        // Release: for the two words above, and for the last section's reads. Otherwise as a reader's word, see `protocol`.
        slot.state.store(self.period.load(Relaxed), Release);
        fence::light();
        DOMAIN_SECTIONS.set(DOMAIN_SECTIONS.get() + 1);
        DomainGuard {
            domain: self,
            slot,
            of_this_thread: PhantomData,
        }
    }

    #[cold]
    fn add(&self) -> &Slot {
        let mut first = self.slots.load(Relaxed);
        let new = Box::into_raw(Box::new(Slot {
            state: AtomicU64::new(IDLE),
            serial: AtomicU64::new(0),
            thread: AtomicI32::new(0),
            next: first,
        }));
        // AcqRel: pairs with the Acquire in `slots`.
        while let Err(now) = self.slots.compare_exchange(first, new, AcqRel, Relaxed) {
            first = now;
            // SAFETY: nobody else has it yet.
            unsafe { (*new).next = first };
        }
        // SAFETY: in the list now, and lives as long as the domain.
        unsafe { &*new }
    }

    fn deferred(&self) -> Deferred<'_, &Self> {
        Deferred {
            queue: &self.queue,
            periods: self,
        }
    }

    /// Returns when every section of this domain has ended that was open at the call.
    ///
    /// # Panics
    /// In a section of any domain, which may be this one's. Where no heavy fence can be made: see [`try_heavy`](fence::try_heavy).
    #[doc(alias = "synchronize_srcu")]
    pub fn synchronize(&self) {
        assert!(
            DOMAIN_SECTIONS.get() == 0,
            "rcu: synchronize in a domain's section would wait for itself"
        );
        record::settle();
        let period = match self.begin() {
            Ok(period) => period,
            Err(refusal) => panic!("rcu: no grace period: {refusal}"),
        };
        let mut wait = Wait::new();
        while !self.is_over(period, Some(&mut wait)) {}
    }

    /// Calls `closure` after a grace period of this domain, on the thread of any writer of it; as [`defer`](super::defer). In sections, of
    /// whichever domain or global, it neither waits nor runs closures, and their ends do not either: another writer or a
    /// [`barrier`](Self::barrier) does.
    #[doc(alias = "call_srcu")]
    pub fn defer(&self, closure: impl FnOnce() + Send + 'static) {
        self.deferred().defer(closure);
    }

    /// Drops `value` after a grace period of this domain.
    pub fn drop_later(&self, value: impl Send + 'static) {
        self.defer(move || drop(value));
    }

    /// Returns when all closures that were deferred here before have run.
    ///
    /// # Panics
    /// As [`barrier`](super::barrier); in a section of any domain too.
    #[doc(alias = "srcu_barrier")]
    pub fn barrier(&self) {
        self.deferred().barrier();
    }

    /// How many closures wait for their grace period, about.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.queue.pending()
    }
}

impl Periods for &Domain {
    fn begin(&self) -> Result<u64, Refusal> {
        fence::try_heavy_batched()?;
        // After the fence: see `protocol`.
        Ok(self.period.fetch_add(STEP, Relaxed) + STEP)
    }

    fn is_over(&self, period: u64, wait: Option<&mut Wait>) -> bool {
        // Acquire: pairs with the Release of a section's end.
        let holds_up = |slot: &Slot| {
            is_older(slot.state.load(Acquire), period) && !record::is_left_behind(slot.serial.load(Relaxed))
        };
        let Some(slot) = self.slots().find(|slot| holds_up(slot)) else {
            return true;
        };
        if let Some(wait) = wait {
            wait.once(|| slot.thread.load(Relaxed));
        }
        false
    }

    /// Or in a global one, whose end a section of this domain may be waiting for.
    fn is_inside(&self) -> bool {
        DOMAIN_SECTIONS.get() > 0 || record::current().reader.is_inside()
    }
}

impl Default for Domain {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Domain {
    fn drop(&mut self) {
        // Sections borrow the domain, so none is open.
        self.queue.run_all();
        let mut at = *self.slots.get_mut();
        while !at.is_null() {
            // SAFETY: boxed in `add`, and nobody uses it any more.
            at = unsafe { Box::from_raw(at) }.next;
        }
    }
}

impl Drop for DomainGuard<'_> {
    #[doc(alias = "srcu_read_unlock")]
    fn drop(&mut self) {
        // Release: pairs with the Acquire of `is_over`; what the section read is read.
        self.slot.state.store(NOBODY, Release);
        DOMAIN_SECTIONS.set(DOMAIN_SECTIONS.get() - 1);
    }
}
