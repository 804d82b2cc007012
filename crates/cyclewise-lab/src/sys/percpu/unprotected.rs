//! Words of the current CPU that are loaded and stored without a restartable sequence, for the broken twins in `verify`.
//!
//! # Safety
//! 1. A word is one of the variable, which is borrowed, and is changed by atomics alone.
#![expect(unsafe_code, reason = "words by address")]

use super::here;
use crate::sys::affinity;
use cyclewise::percpu::{PerCpu, Slot};
use std::sync::atomic::AtomicU64;

#[derive(Debug)]
pub(crate) struct Words<const N: usize>(PerCpu<[u64; N]>);

impl<const N: usize> Words<N> {
    pub(crate) fn new() -> Self {
        Self(PerCpu::new())
    }

    /// The words of the CPU that the thread runs on, by getcpu(2); it may have moved when this returns. Threads share words
    /// even without rseq, where the library would give each its own slot.
    pub(crate) fn here(&self) -> &[AtomicU64; N] {
        self.words_of(Slot::from_id(affinity::current_cpu()).unwrap_or_else(here))
    }

    /// Every slot's.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[AtomicU64; N]> {
        Slot::all().map(|slot| self.words_of(slot))
    }

    fn words_of(&self, slot: Slot) -> &[AtomicU64; N] {
        // SAFETY: Invariant 1; an atomic is laid out as its integer.
        unsafe { &*self.0.slot_ptr(slot).cast() }
    }
}

/// The gap between a load and the store that follows it: as long as a short function, and sometimes long enough for
/// every other thread to run.
pub(crate) fn between(chance: u64) {
    if chance.is_multiple_of(16) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}
