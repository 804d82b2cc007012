//! [`Here`]: sequences of several steps on the current CPU's words, under the names of their pseudo-code.
//!
//! Addresses are computed for one slot, so one says first which: [`Here::now`]. Each sequence compares that again as its first
//! step, and says [`Outcome::Moved`] where it is another by now; then one asks again where one is.
//!
//! ```
//! use cyclewise::percpu::{Here, NEVER, Outcome, PerCpu};
//!
//! let total = PerCpu::<u64>::new();
//! loop {
//!     let here = Here::now();
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
//! The contract of every sequence: words and ranges are those of this slot, in a variable whose index is `I`, or, where it
//! says so, the caller's own; all are valid and aligned meanwhile; and they are changed by these sequences with the
//! same guard, by [`this_cpu`](super::this_cpu), or by who has stopped the slot at that guard.
//!
//! 1. So where the slot is taken, or in a sequence of its CPU, nobody else changes them.
#![expect(unsafe_code, reason = "words by address")]

use super::index::Index;
use super::registration::{self, Own};
use super::slots::{self, Slot, Taken};
use super::word::Bits;
use crate::arch::{Cid, Cpu, Outcome, rseq_set};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};

/// The slot that the calling thread was in when it asked.
#[derive(Clone, Copy, Debug)]
pub struct Here<I: Index = Cpu> {
    slot: Slot,
    own: Option<Own>,
    index: PhantomData<fn() -> I>,
    /// The area is the thread's: not `Send`.
    thread: PhantomData<*mut ()>,
}

impl Here {
    /// The current CPU's slot.
    #[inline(always)]
    pub fn now() -> Self {
        Self::by()
    }
}

impl<I: Index> Here<I> {
    /// The current slot by this index.
    #[inline(always)]
    pub fn by() -> Self {
        match registration::fast::<I>() {
            Some(area) => Self::of(Some(Own::fast::<I>(area))),
            None => Self::slow(),
        }
    }

    #[cold]
    fn slow() -> Self {
        Self::of(registration::resolve::<I>())
    }

    #[inline(always)]
    fn of(own: Option<Own>) -> Self {
        Self {
            slot: own.map_or_else(slots::likely, |own| Slot(own.id())),
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

    /// If `*v == expect`, `*v = new`.
    ///
    /// # Safety
    /// As of the module.
    #[inline(always)]
    pub unsafe fn load_cbne_store(&self, guard: &AtomicU64, v: *mut u64, expect: u64, new: u64) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe { rseq_set::load_cbne_store::<Cpu, false>(area, cpu, stop, v, expect, new) },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe { rseq_set::load_cbne_store::<Cid, false>(area, cpu, stop, v, expect, new) },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect`, `*v = new`. The last store is a release.
    ///
    /// # Safety
    /// As of the module.
    #[inline(always)]
    pub unsafe fn load_cbne_store_release(&self, guard: &AtomicU64, v: *mut u64, expect: u64, new: u64) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe { rseq_set::load_cbne_store::<Cpu, true>(area, cpu, stop, v, expect, new) },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe { rseq_set::load_cbne_store::<Cid, true>(area, cpu, stop, v, expect, new) },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// `*v += count`.
    ///
    /// # Safety
    /// As of the module.
    #[inline(always)]
    pub unsafe fn load_add_store(&self, guard: &AtomicU64, v: *mut u64, count: u64) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe { rseq_set::load_add_store::<Cpu>(area, cpu, stop, v, count) },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe { rseq_set::load_add_store::<Cid>(area, cpu, stop, v, count) },
            None => self.portable(guard, || {
                store(v, load(v).wrapping_add(count));
                Outcome::Done
            }),
        }
    }

    /// Pops: if `*v != not`, `*load = *v`, and `*v` becomes the word at `*v + offset`.
    ///
    /// # Safety
    /// As of the module. Where `*v` is not `not`, it is the exposed address of a node with a word at `offset`. `load_to` is the caller's; it may be
    /// written whatever the outcome.
    #[inline(always)]
    pub unsafe fn load_cbeq_store_add_load_store(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        not: u64,
        offset: isize,
        load_to: *mut u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbeq_store_add_load_store::<Cpu>(area, cpu, stop, v, not, offset, load_to)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbeq_store_add_load_store::<Cid>(area, cpu, stop, v, not, offset, load_to)
            },
            None => self.portable(guard, || {
                let found = load(v);
                if found == not {
                    return Outcome::Ne;
                }
                store(load_to, found);
                let next = core::ptr::with_exposed_provenance_mut::<u64>(found as usize).wrapping_byte_offset(offset);
                store(v, load(next));
                Outcome::Done
            }),
        }
    }

    /// `*(*(*at + offset)) += count`: through a table of pointers.
    ///
    /// # Safety
    /// As of the module. `*at + offset` is the exposed address of a word that holds the exposed address of a word of the slot.
    #[inline(always)]
    pub unsafe fn load_add_load_load_add_store(
        &self,
        guard: &AtomicU64,
        at: *const u64,
        offset: isize,
        count: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_add_load_load_add_store::<Cpu>(area, cpu, stop, at, offset, count)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_add_load_load_add_store::<Cid>(area, cpu, stop, at, offset, count)
            },
            None => self.portable(guard, || {
                let entry = core::ptr::with_exposed_provenance_mut::<u64>(load(at.cast_mut()) as usize)
                    .wrapping_byte_offset(offset);
                let word = core::ptr::with_exposed_provenance_mut::<u64>(load(entry) as usize);
                store(word, load(word).wrapping_add(count));
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect`, `*v2 = new2`, then `*v = new`.
    ///
    /// # Safety
    /// As of the module. `*v2` may be written whatever the outcome.
    #[inline(always)]
    pub unsafe fn load_cbne_store_store(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        expect: u64,
        v2: *mut u64,
        new2: u64,
        new: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbne_store_store::<Cpu, false>(area, cpu, stop, v, expect, v2, new2, new)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbne_store_store::<Cid, false>(area, cpu, stop, v, expect, v2, new2, new)
            },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                store(v2, new2);
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect`, `*v2 = new2`, then `*v = new`. The last store is a release.
    ///
    /// # Safety
    /// As of the module. `*v2` may be written whatever the outcome.
    #[inline(always)]
    pub unsafe fn load_cbne_store_store_release(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        expect: u64,
        v2: *mut u64,
        new2: u64,
        new: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbne_store_store::<Cpu, true>(area, cpu, stop, v, expect, v2, new2, new)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbne_store_store::<Cid, true>(area, cpu, stop, v, expect, v2, new2, new)
            },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                store(v2, new2);
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect` and `*v2 == expect2`, `*v = new`.
    ///
    /// # Safety
    /// As of the module.
    #[inline(always)]
    pub unsafe fn load_cbne_load_cbne_store(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        expect: u64,
        v2: *const u64,
        expect2: u64,
        new: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbne_load_cbne_store::<Cpu>(area, cpu, stop, v, expect, v2, expect2, new)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbne_load_cbne_store::<Cid>(area, cpu, stop, v, expect, v2, expect2, new)
            },
            None => self.portable(guard, || {
                if load(v) != expect || load(v2.cast_mut()) != expect2 {
                    return Outcome::Ne;
                }
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect`, copies `len` words from `src` to `dst`, then `*v = new`.
    ///
    /// # Safety
    /// As of the module. The ranges do not overlap, and either may be
    /// the caller's. `*dst` may be written whatever the outcome.
    #[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
    #[inline(always)]
    pub unsafe fn load_cbne_memcpy_store(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        expect: u64,
        dst: *mut u64,
        src: *const u64,
        len: usize,
        new: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbne_memcpy_store::<Cpu, false>(area, cpu, stop, v, expect, dst, src, len, new)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbne_memcpy_store::<Cid, false>(area, cpu, stop, v, expect, dst, src, len, new)
            },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                for n in 0..len {
                    store(dst.wrapping_add(n), load(src.cast_mut().wrapping_add(n)));
                }
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// If `*v == expect`, copies `len` words from `src` to `dst`, then `*v = new`. The last store is a release.
    ///
    /// # Safety
    /// As of the module. The ranges do not overlap, and either may be
    /// the caller's. `*dst` may be written whatever the outcome.
    #[expect(clippy::too_many_arguments, reason = "the operands of the sequence")]
    #[inline(always)]
    pub unsafe fn load_cbne_memcpy_store_release(
        &self,
        guard: &AtomicU64,
        v: *mut u64,
        expect: u64,
        dst: *mut u64,
        src: *const u64,
        len: usize,
        new: u64,
    ) -> Outcome {
        let (cpu, stop) = (self.slot.0, guard.as_ptr().cast_const());
        match self.own {
            // SAFETY: the area is the thread's; the rest as of this function.
            Some(Own::Cpu(area)) => unsafe {
                rseq_set::load_cbne_memcpy_store::<Cpu, true>(area, cpu, stop, v, expect, dst, src, len, new)
            },
            // SAFETY: as above.
            Some(Own::Cid(area)) => unsafe {
                rseq_set::load_cbne_memcpy_store::<Cid, true>(area, cpu, stop, v, expect, dst, src, len, new)
            },
            None => self.portable(guard, || {
                if load(v) != expect {
                    return Outcome::Ne;
                }
                for n in 0..len {
                    store(dst.wrapping_add(n), load(src.cast_mut().wrapping_add(n)));
                }
                store(v, new);
                Outcome::Done
            }),
        }
    }

    /// Runs the steps with the slot taken, as a sequence would on its CPU.
    #[cold]
    fn portable(&self, guard: &AtomicU64, steps: impl FnOnce() -> Outcome) -> Outcome {
        let Some(_taken) = self.slot.portable().and_then(Taken::one) else {
            return Outcome::Moved;
        };
        // Acquire: pairs with the Release of who lets the slot's threads in again.
        match guard.load(Ordering::Acquire) {
            0 => steps(),
            _ => Outcome::Stopped,
        }
    }
}

/// A step of a sequence, with the slot taken.
fn load(at: *mut u64) -> u64 {
    // SAFETY: as the caller's caller vouches: a word of the slot's, or its own (Invariant 1).
    unsafe { <u64 as Bits>::load(at) }
}

/// A step of a sequence, with the slot taken.
fn store(at: *mut u64, value: u64) {
    // SAFETY: as above.
    unsafe { <u64 as Bits>::store(at, value) }
}
