//! Sixty-four words in each kind of memory that the experiment `percpu` compares, and an increment of one of them.
//!
//! # Safety
//! 1. An index is masked to 63, so every address is one of the 64 words of its variable, which lives as long as the value.
//! 2. A word is changed in one way only: by sequences, by atomics, or by one thread.
#![expect(unsafe_code, reason = "words by address, and the base of GS")]

pub(crate) mod storm;
pub(crate) mod unprotected;

use crate::error::{Error, Result};
use cyclewise::percpu::{CurrentSlot, Index, PerCpu, Pinned, Slot, this_cpu};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) const WORDS: usize = 64;

/// Words with a copy for each CPU, or for each `mm_cid`. Holds their address, so that a loop keeps it in a register.
pub(crate) struct PerCpuWords<I: Index>(&'static PerCpu<[u64; WORDS], I>, *mut u64);

impl<I: Index> Clone for PerCpuWords<I> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<I: Index> Copy for PerCpuWords<I> {}

impl<I: Index> PerCpuWords<I> {
    /// Zeroes, for the rest of the program.
    pub(crate) fn new() -> Self {
        let words = Box::leak(Box::new(PerCpu::new()));
        Self(words, words.as_ptr().cast())
    }

    /// Adds one, by the library.
    #[inline(always)]
    pub(crate) fn add(self, n: usize) {
        let word = self.1.wrapping_add(n % WORDS);
        // SAFETY: Invariants 1 and 2.
        unsafe { this_cpu::add::<I, u64>(word, 1) }
    }

    /// Adds one to a slot's copy, by a locked addition.
    #[inline(always)]
    pub(crate) fn add_atomic(self, slot: Slot, n: usize) {
        let word = self.0.slot_ptr(slot).cast::<u64>().wrapping_add(n % WORDS);
        // SAFETY: Invariants 1 and 2.
        unsafe { AtomicU64::from_ptr(word) }.fetch_add(1, Relaxed);
    }
}

/// The slot of the CPU that the calling thread is on, from its rseq area where it has one.
#[inline(always)]
pub(crate) fn here() -> Slot {
    CurrentSlot::now().slot()
}

/// The calling thread, with its GS base set.
pub(crate) struct Gs {
    pinned: Pinned,
    words: PerCpu<[u64; WORDS]>,
}

impl Gs {
    /// Enters the CPU that the thread is confined to already.
    ///
    /// # Errors
    /// Exit 3 where GS is not available, with the reason.
    pub(crate) fn enter() -> Result<Self> {
        // SAFETY: nothing in the lab uses GS.
        let pinned =
            unsafe { Pinned::enter(here().number()) }.map_err(|refusal| Error::unsupported(refusal.to_string()))?;
        Ok(Self {
            pinned,
            words: PerCpu::new(),
        })
    }

    /// The words. The thread is confined while `self` lives; a loop keeps the address in a register.
    pub(crate) fn words(&self) -> GsWords<'_> {
        GsWords(&self.pinned, self.words.as_ptr().cast())
    }
}

/// The words of a [`Gs`].
#[derive(Clone, Copy)]
pub(crate) struct GsWords<'a>(&'a Pinned, *mut u64);

impl GsWords<'_> {
    #[inline(always)]
    pub(crate) fn inc(self, n: usize) {
        // SAFETY: Invariants 1 and 2.
        unsafe { self.0.inc_at(self.1.wrapping_add(n % WORDS)) };
    }
}
