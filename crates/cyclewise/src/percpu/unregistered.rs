//! The counterpart of `registration` for builds without rseq areas: every thread uses portable slots.
//!
//! # Safety
//! 1. Memory comes from the allocator, and goes back to it with the same layout.
#![expect(unsafe_code, reason = "allocates zeroed memory; an area that never exists")]
#![expect(clippy::extra_unused_type_parameters, reason = "the counterpart's signatures")]

use super::backend::{Backend, Reason, Report};
use super::index::Index;
use crate::arch::rseq::Area;
use crate::error::Refusal;
use core::alloc::Layout;
use core::ptr::NonNull;

#[cfg(all(test, feature = "std"))]
#[path = "registration/area_claim/mod.rs"]
mod area_claim;

/// A thread's registered area. No value exists.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the counterpart of a type that other configurations make")]
pub(super) enum RseqArea {
    Cpu(Area),
    Cid(Area),
}

impl RseqArea {
    pub(super) fn of_libc<I: Index>(area: Area) -> Self {
        Self::Cpu(area)
    }

    pub(super) fn id(self) -> u32 {
        match self {
            // SAFETY: there is no area.
            Self::Cpu(area) | Self::Cid(area) => unsafe { area.id::<crate::arch::Cpu>() },
        }
    }
}

#[inline(always)]
pub(super) fn libc_area<I: Index>() -> Option<Area> {
    None
}

#[derive(Debug)]
pub(super) struct LibcArea;

impl LibcArea {
    pub(super) const fn unknown() -> Self {
        Self
    }

    #[inline(always)]
    pub(super) fn get(&self) -> Option<Area> {
        None
    }

    #[inline(always)]
    pub(super) fn known(&self) -> Option<Area> {
        None
    }

    pub(super) fn learn<I: Index>(&self) {}
}

pub(super) fn thread_area<I: Index>() -> Option<RseqArea> {
    None
}

/// 0: no slot is a CPU's.
pub(super) fn id_bound() -> usize {
    0
}

fn layout(length: usize) -> Option<Layout> {
    Layout::from_size_align(length, 4096).ok()
}

/// Zeroed memory, aligned to 4096.
///
/// # Errors
/// The allocator has none.
pub(super) fn reserve(length: usize) -> Result<NonNull<u8>, Refusal> {
    let layout = layout(length).ok_or(Refusal::NoMemory)?;
    // SAFETY: callers ask for at least one byte.
    NonNull::new(unsafe { alloc::alloc::alloc_zeroed(layout) }).ok_or(Refusal::NoMemory)
}

/// Frees what [`reserve`] returned.
///
/// # Safety
/// [`reserve`] returned it for this length, and nobody uses it any more.
pub(super) unsafe fn release(start: NonNull<u8>, length: usize) {
    if let Some(layout) = layout(length) {
        // SAFETY: the caller vouches that `reserve` returned it for this length, and so by this layout (Safety 1).
        unsafe { alloc::alloc::dealloc(start.as_ptr(), layout) };
    }
}

/// Does nothing: forks are not noticed.
pub(super) fn register_atfork() {}

/// Stands for blocked signals.
pub(super) struct NotBlocked;

/// Does nothing: no handler allocates.
///
/// # Errors
/// None.
pub(super) fn block_signals() -> Result<NotBlocked, Refusal> {
    Ok(NotBlocked)
}

/// Does nothing: no slot is a CPU's.
///
/// # Errors
/// None.
pub(super) fn restart_sequences(_: Option<u32>) -> Result<(), Refusal> {
    Ok(())
}

/// The portable backend.
pub(super) fn report() -> Report {
    Report {
        backend: Backend::Portable,
        reason: Reason::Build,
        cid: false,
    }
}
