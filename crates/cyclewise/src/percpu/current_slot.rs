//! [`CurrentSlot`]: sequences of several steps on the current CPU's words, under the names of their pseudo-code.
//!
//! Addresses are computed for one slot, so one says first which: [`CurrentSlot::now`]. Each sequence compares that again as its first
//! step, and says [`Outcome::Moved`] where it is another by now; then one asks again where one is.
//!
//! ```
//! use cyclewise::percpu::{CurrentSlot, NEVER, Outcome, PerCpu};
//!
//! let total = PerCpu::<u64>::new();
//! loop {
//!     let here = CurrentSlot::now();
//!     let word = total.of(here.slot());
//!     // SAFETY: this slot's copy, and nobody changes it from outside.
//!     if unsafe { here.load_cbne_store(&NEVER, word, 0, 7) } == Outcome::Done {
//!         break;
//!     }
//! }
//! assert_eq!(total.sum(), 7);
//! ```
//!
//! # Memory ordering
//! Relaxed; the last store of a `_release` form is a release. What was done to the slot's words by its own threads, or
//! by who had stopped them, is seen.
//!
//! # Cost
//! Two compares and two branches more than the pseudo-code: of the slot, and of the guard.
//!
//! # References
//! librseq's pseudo-code conventions, whose names these are.
//!
//! # Safety
//! The contract of every sequence (`sequences.rs`): words and ranges are those of this slot, in a variable whose index is `I`, or, where it
//! says so, the caller's own; all are valid and aligned meanwhile; and they are changed by these sequences with the
//! same guard, by [`this_cpu`](super::this_cpu), or by who has stopped the slot at that guard.
//!
//! 1. So where the slot is taken, or in a sequence of its CPU, nobody else changes them.

mod sequences;

use super::guard::Guard;
use super::index::Index;
use super::registration::{self, RseqArea};
use super::slots::{self, LockedSlot, Slot};
use crate::arch::{Cpu, Outcome};
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// The slot that the calling thread was in when it asked.
#[derive(Clone, Copy, Debug)]
pub struct CurrentSlot<I: Index = Cpu> {
    slot: Slot,
    own: Option<RseqArea>,
    index: PhantomData<fn() -> I>,
    /// The area is the thread's: not `Send`.
    thread: PhantomData<*mut ()>,
}

impl CurrentSlot {
    /// The current CPU's slot.
    #[inline(always)]
    pub fn now() -> Self {
        Self::by_index()
    }
}

impl<I: Index> CurrentSlot<I> {
    /// The current slot by this index.
    #[inline(always)]
    #[allow(unreachable_code, reason = "some builds have no areas")]
    pub fn by_index() -> Self {
        match registration::libc_area::<I>() {
            Some(area) => Self::of(Some(RseqArea::of_libc::<I>(area))),
            None => Self::slow(),
        }
    }

    #[cold]
    fn slow() -> Self {
        Self::of(registration::thread_area::<I>())
    }

    #[inline(always)]
    fn of(own: Option<RseqArea>) -> Self {
        Self {
            slot: own.map_or_else(slots::likely_free, |own| Slot(own.id())),
            own,
            index: PhantomData,
            thread: PhantomData,
        }
    }

    /// The slot.
    #[inline(always)]
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Runs the steps with the slot taken, as a sequence would on its CPU.
    #[cold]
    fn portable(&self, guard: &Guard, steps: impl FnOnce() -> Outcome) -> Outcome {
        let Some(_taken) = self.slot.portable().and_then(LockedSlot::try_lock) else {
            return Outcome::Moved;
        };
        // Acquire: pairs with the Release of who lets the slot's threads in again.
        match guard.word().load(Ordering::Acquire) {
            0 => steps(),
            _ => Outcome::Stopped,
        }
    }
}
