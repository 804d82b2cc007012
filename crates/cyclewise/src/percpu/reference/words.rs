//! The words of a per-CPU reference count, and their accesses.
//!
//! # Safety
//! 1. `slots` maps a word in every slot, for as long as the words live.
#![expect(unsafe_code, reason = "words by address")]

use super::protocol::{BIAS, Parts, SHUT};
use crate::arch::rseq::free_list;
use crate::arch::{Cpu, Outcome};
use crate::error::Refusal;
use crate::percpu::current_slot::CurrentSlot;
use crate::percpu::guard::Guard;
use crate::percpu::registration::{self, LibcArea};
use crate::percpu::remote;
use crate::percpu::slots::Slot;
use crate::percpu::variable::PerCpu;
use crate::percpu::word::Bits;
use core::sync::atomic::{AtomicU64, Ordering};

/// The words. While the count is live, no thread writes the cache line of the guard and the shared word.
#[repr(align(128))]
pub(in crate::percpu) struct RefWords {
    area: LibcArea,
    guard: Guard,
    shared: AtomicU64,
    slots: PerCpu<u64>,
}

impl Parts for RefWords {
    #[inline(always)]
    fn add_in_slot(&self, amount: i64) -> bool {
        let Some(area) = self.area.get() else {
            return self.add_in_slot_slow(amount);
        };
        let guard = self.guard.word().as_ptr().cast_const();
        // SAFETY: the area is the thread's; the current slot's word, changed by other threads only while the guard is
        // shut (Safety 1).
        let outcome = unsafe { free_list::add_if_open::<Cpu>(area, guard, self.slots.as_ptr(), amount as u64) };
        outcome == Outcome::Done
    }

    fn set_guard(&self, guard: u64) {
        // SeqCst: before the barrier that follows; and Release, for the sequences' load of it.
        self.guard.word().store(guard, Ordering::SeqCst);
    }

    fn wait_for_slots(&self) -> Result<(), Refusal> {
        remote::restart_all()
    }

    fn take_slots(&self) -> i64 {
        let take = |slot| {
            let at = self.slots.slot_ptr(slot);
            // SAFETY: no other thread accesses the slots' words now (Safety 1).
            let found = unsafe { u64::load(at) };
            if found != 0 {
                // SAFETY: the same word, while the guard is still shut and the slots have been waited for.
                unsafe { u64::store(at, 0) };
            }
            found as i64
        };
        Slot::all().map(take).fold(0, i64::wrapping_add)
    }

    #[inline]
    fn shared(&self) -> u64 {
        // Acquire: pairs with the Release half of `exchange`.
        self.shared.load(Ordering::Acquire)
    }

    #[inline]
    fn exchange(&self, from: u64, to: u64) -> Result<(), u64> {
        // AcqRel: pairs with itself.
        self.shared
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
    }
}

impl RefWords {
    /// Live words with one initial reference, counted in the slots or, without `per_cpu`, in the shared word.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`].
    pub(in crate::percpu) fn try_new(per_cpu: bool) -> Result<Self, Refusal> {
        let (area, guard) = (LibcArea::unknown(), Guard::new());
        // Registers the thread if it has not been.
        let _ = registration::thread_area::<Cpu>();
        area.learn::<Cpu>();
        if !per_cpu {
            // Relaxed: not shared yet.
            guard.word().store(SHUT, Ordering::Relaxed);
        }
        Ok(Self {
            area,
            guard,
            shared: AtomicU64::new(if per_cpu { BIAS + 1 } else { 1 }),
            slots: PerCpu::try_new()?,
        })
    }

    /// For threads that the C library has not registered.
    #[cold]
    #[inline(never)]
    fn add_in_slot_slow(&self, amount: i64) -> bool {
        loop {
            let here = CurrentSlot::now();
            // SAFETY: this slot's word, changed by other threads only while the guard is shut (Safety 1).
            match unsafe { here.load_add_store(&self.guard, self.slots.slot_ptr(here.slot()), amount as u64) } {
                Outcome::Done => return true,
                Outcome::Stopped => return false,
                Outcome::Ne | Outcome::Moved => {}
            }
        }
    }
}
