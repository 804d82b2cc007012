//! The word: a queued spinlock in the high half, and the count in the other.

use crate::lock::{self, HighHalfWord};
use crate::primitive::{AtomicU64, const_fn};
use crate::refs::refcount::{self, Event};
use core::panic::Location;
use core::ptr::from_ref;

/// Lock and count.
#[repr(transparent)]
pub(super) struct Word(HighHalfWord);

type Park = crate::lock::DefaultPark;

/// How a waiter for the lock spins, as with a plain lock.
type Relax = crate::lock::Exponential;

impl Word {
    const_fn! {
        /// Unlocked.
        pub(super) fn new(count: i32) -> Self {
            Self(HighHalfWord::new(count.cast_unsigned()))
        }
    }

    /// All 8 bytes.
    #[inline(always)]
    pub(super) fn whole(&self) -> &AtomicU64 {
        self.0.whole()
    }

    /// Takes the lock if it is free. Acquire: pairs with the Release of every earlier put and unlock.
    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        lock::try_lock(&self.0)
    }

    /// Takes the lock. Acquire, as above.
    #[inline]
    pub(super) fn lock(&self) {
        lock::lock::<_, Park, Relax>(&self.0);
    }

    /// Releases the lock. Release: pairs with the Acquire of the next holder, and of gets.
    #[inline]
    pub(super) fn unlock(&self) {
        lock::unlock::<_, Park>(&self.0);
    }
}

/// Reports the event, if there is one, at the caller's location, where `Refcount` reports misuse.
#[inline]
#[track_caller]
pub(super) fn report(cell: &Word, event: Option<Event>) {
    if let Some(event) = event {
        report_slow(cell, event, Location::caller());
    }
}

#[cold]
fn report_slow(cell: &Word, event: Event, caller: &'static Location<'static>) {
    refcount::report(event, from_ref(cell).addr(), caller);
}
