//! A thread's affinity and base of GS before it was [`Pinned`](super::Pinned), and the pinning.
//!
//! # Safety
//! 1. The base of GS is set only where the caller vouches that nothing else in the thread uses GS.
#![expect(unsafe_code, reason = "the base of GS")]

use crate::arch::SHIFT;
use crate::arch::gs::{Base, Gs, rdgsbase, wrgsbase};
use crate::error::Refusal;
use crate::percpu::slots::{Slot, copy_in};
use crate::percpu::{PerCpu, registration};
use crate::sys::affinity::CpuSet;
use crate::sys::arch_prctl::{gs_base, has_fsgsbase, set_gs_base};
use core::cell::Cell;
use std::thread_local;

thread_local! {
    static ENTERED: Cell<bool> = const { Cell::new(false) };
}

/// The thread's state before, restored by the drop.
pub(super) struct PriorState {
    cpus: CpuSet,
    base: usize,
}

impl core::fmt::Debug for PriorState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PriorState")
            .field("base", &self.base)
            .finish_non_exhaustive()
    }
}

impl PriorState {
    pub(super) fn is_confined(&self, cpu: u32) -> bool {
        CpuSet::one(cpu).is_ok_and(|one| one.is_current())
    }
}

impl Drop for PriorState {
    fn drop(&mut self) {
        // SAFETY: the base that the thread had before. A failure leaves a base that no code uses.
        let _ = unsafe { set(self.base) };
        // A failure leaves the thread confined, which is harmless.
        let _ = self.cpus.apply();
        ENTERED.set(false);
    }
}

/// # Safety
/// As of [`super::Pinned::enter`].
pub(super) unsafe fn enter(cpu: u32) -> Result<PriorState, Refusal> {
    let offset = (cpu as usize) << SHIFT;
    let is_offset = |base: usize| base & ((1 << SHIFT) - 1) == 0 && base >> SHIFT < registration::id_bound();
    let base = get()?;
    // A base that is not an offset belongs to other code. An offset may be inherited, and is set again.
    if ENTERED.get() || !is_offset(base) {
        return Err(Refusal::GsInUse { base });
    }
    if !is_offset(offset) {
        return Err(Refusal::System {
            call: "sched_setaffinity",
            errno: libc::EINVAL,
        });
    }
    let one = CpuSet::one(cpu)?;
    let prior = PriorState {
        cpus: CpuSet::current()?,
        base,
    };
    one.apply()?;
    // From here on an error drops `prior`, which restores the thread.
    ENTERED.set(true);
    // SAFETY: the caller vouches that nothing else in this thread uses GS.
    unsafe { set(offset)? };
    let probe = PerCpu::<u64>::try_new()?;
    let copy = copy_in(probe.as_ptr(), Slot(cpu));
    // SAFETY: a variable that is not shared.
    unsafe { copy.write_volatile(1) };
    // SAFETY: the copy is mapped at any offset.
    let is_there = match unsafe { Base::new() } {
        // SAFETY: the token proves that there is a base, and the copy is mapped at any offset.
        Some(token) => (unsafe { u64::gs_read(token, probe.as_ptr()) }) == 1,
        None => false,
    };
    if is_there { Ok(prior) } else { Err(Refusal::NoGs) }
}

fn get() -> Result<usize, Refusal> {
    if has_fsgsbase() {
        // SAFETY: the kernel says that it allows it.
        Ok(unsafe { rdgsbase() })
    } else {
        gs_base()
    }
}

/// # Safety
/// Nothing else in this thread uses GS.
unsafe fn set(base: usize) -> Result<(), Refusal> {
    if has_fsgsbase() {
        // SAFETY: the kernel says that it allows it; the caller vouches for the rest.
        unsafe { wrgsbase(base) };
        Ok(())
    } else {
        // SAFETY: the caller vouches that nothing else in this thread uses GS.
        unsafe { set_gs_base(base) }
    }
}
