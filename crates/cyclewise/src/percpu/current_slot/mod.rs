//! [`CurrentSlot`]: sequences of several steps on the current CPU's words, under the names of their pseudo-code.
//!
//! [`CurrentSlot::now`] returns the slot for which addresses are then computed. Each sequence first compares it with the slot that
//! the thread is in, and returns [`Outcome::Moved`] if they differ; then start again with a new `CurrentSlot`.
//!
//! # Memory ordering
//! Relaxed; the last store of a `_release` form is a release. A sequence sees all changes of the slot's words by its own threads and
//! by threads that stopped them.
//!
//! # Cost
//! The pseudo-code and two compares and branches, for the slot and the guard.
//!
//! # References
//! librseq's pseudo-code conventions, whose names these are.
//!
//! # Safety
//! The contract of every sequence (`sequences.rs`): words and ranges belong to this slot, in a variable whose index is `I`, or, where
//! documented, to the caller; all are valid and aligned meanwhile; and they are changed only by these sequences with the
//! same guard, by [`this_cpu`](super::this_cpu), or by a thread that has stopped the slot at that guard.
//!
//! 1. So while the slot is locked, or in a sequence of its CPU, no other thread changes them.

mod sequences;

use super::guard::Guard;
use super::index::Index;
use super::registration::{self, RseqArea};
use super::slots::{self, LockedSlot, Slot};
use crate::arch::{Cpu, Outcome};
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// The slot that the calling thread was in at some moment.
///
/// # Examples
/// ```
/// use cyclewise::percpu::{CurrentSlot, NEVER, Outcome, PerCpu};
///
/// let total = PerCpu::<u64>::new();
/// loop {
///     let here = CurrentSlot::now();
///     let word = total.slot_ptr(here.slot());
///     // SAFETY: this slot's copy, which is never changed from outside.
///     if unsafe { here.load_cbne_store(&NEVER, word, 0, 7) } == Outcome::Done {
///         break;
///     }
/// }
/// assert_eq!(total.sum(), 7);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CurrentSlot<I: Index = Cpu> {
    slot: Slot,
    own: Option<RseqArea>,
    index: PhantomData<fn() -> I>,
    /// The area belongs to the thread: not `Send`.
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
            Some(area) => Self::in_area(Some(RseqArea::of_libc::<I>(area))),
            None => Self::slow(),
        }
    }

    #[cold]
    fn slow() -> Self {
        Self::in_area(registration::thread_area::<I>())
    }

    #[inline(always)]
    fn in_area(own: Option<RseqArea>) -> Self {
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

    /// Runs the steps with the slot locked, as a sequence would on its CPU.
    #[cold]
    fn portable(&self, guard: &Guard, steps: impl FnOnce() -> Outcome) -> Outcome {
        let Some(_taken) = self.slot.portable().and_then(LockedSlot::try_lock) else {
            return Outcome::Moved;
        };
        // Acquire: pairs with the Release in the drop of `Stopped`.
        match guard.word().load(Ordering::Acquire) {
            0 => steps(),
            _ => Outcome::Stopped,
        }
    }
}
