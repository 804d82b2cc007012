//! What a thread had before it was [`Pinned`](super::Pinned), and getting there.
//!
//! # Safety
//! 1. The base of GS is set in a thread whose owner vouches that nothing else uses GS.
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

/// What the thread had before.
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
        // SAFETY: the thread's own base, which it had before. What fails leaves a base that nobody uses.
        let _ = unsafe { set(self.base) };
        // What fails leaves the thread confined, which is no harm.
        let _ = self.cpus.apply();
        ENTERED.set(false);
    }
}

/// # Safety
/// As of [`super::Pinned::enter`].
pub(super) unsafe fn enter(cpu: u32) -> Result<PriorState, Refusal> {
    let distance = (cpu as usize) << SHIFT;
    let is_distance = |base: usize| base & ((1 << SHIFT) - 1) == 0 && base >> SHIFT < registration::id_bound();
    let base = get()?;
    // A base that is no distance is somebody's. One that is may be inherited, and is set anew.
    if ENTERED.get() || !is_distance(base) {
        return Err(Refusal::GsInUse { base });
    }
    if !is_distance(distance) {
        return Err(Refusal::System {
            call: "sched_setaffinity",
            errno: libc::EINVAL,
        });
    }
    let one = CpuSet::one(cpu)?;
    let saved = PriorState {
        cpus: CpuSet::current()?,
        base,
    };
    one.apply()?;
    // From here on a refusal drops `saved`, which puts everything back.
    ENTERED.set(true);
    // SAFETY: the caller vouches that nothing else in this thread uses GS.
    unsafe { set(distance)? };
    let probe = PerCpu::<u64>::try_new()?;
    let copy = copy_in(probe.as_ptr(), Slot(cpu));
    // SAFETY: a variable that nobody else knows.
    unsafe { copy.write_volatile(1) };
    // SAFETY: whatever distance the base has, the copy there is mapped.
    let is_there = match unsafe { Base::new() } {
        // SAFETY: the token says that there is a base, and whatever distance it has, the copy there is mapped.
        Some(token) => (unsafe { u64::gs_read(token, probe.as_ptr()) }) == 1,
        None => false,
    };
    if is_there { Ok(saved) } else { Err(Refusal::NoGs) }
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
