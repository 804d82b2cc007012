//! The twin of `registration` where there are no areas: every thread uses portable slots.
//!
//! # Safety
//! 1. Memory comes from the allocator, and goes back to it with the same layout.
#![expect(unsafe_code, reason = "allocates zeroed memory; an id that is never had")]
#![expect(clippy::extra_unused_type_parameters, reason = "the twin's signatures")]

use super::backend::{Backend, Reason, Report};
use super::index::Index;
use crate::arch::rseq::Area;
use crate::error::Refusal;
use core::alloc::Layout;
use core::ptr::NonNull;

/// A thread's registered area: none exists.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "the twin of a type that is made elsewhere")]
pub(super) enum RseqArea {
    Cpu(Area),
    Cid(Area),
}

impl RseqArea {
    /// Not called.
    pub(super) fn fast<I: Index>(area: Area) -> Self {
        Self::Cpu(area)
    }

    /// The id now.
    pub(super) fn id(self) -> u32 {
        match self {
            // SAFETY: there is no area.
            Self::Cpu(area) | Self::Cid(area) => unsafe { area.id::<crate::arch::Cpu>() },
        }
    }
}

/// None.
#[inline(always)]
pub(super) fn fast<I: Index>() -> Option<Area> {
    None
}

/// None.
pub(super) fn resolve<I: Index>() -> Option<RseqArea> {
    None
}

/// No slot is a CPU's.
pub(super) fn ids() -> usize {
    0
}

fn layout(length: usize) -> Option<Layout> {
    Layout::from_size_align(length, 4096).ok()
}

/// Zeroed memory, aligned to 4096.
///
/// # Errors
/// Where the allocator has none.
pub(super) fn reserve(length: usize) -> Result<NonNull<u8>, Refusal> {
    let layout = layout(length).ok_or(Refusal::NoMemory)?;
    // SAFETY: callers ask for more than nothing.
    NonNull::new(unsafe { alloc::alloc::alloc_zeroed(layout) }).ok_or(Refusal::NoMemory)
}

/// Gives it back.
///
/// # Safety
/// [`reserve`] returned it for this length, and nobody uses it any more.
pub(super) unsafe fn release(start: NonNull<u8>, length: usize) {
    if let Some(layout) = layout(length) {
        // SAFETY: the caller vouches that `reserve` returned it for this length, and so by this layout (Invariant 1).
        unsafe { alloc::alloc::dealloc(start.as_ptr(), layout) };
    }
}

#[cfg(feature = "std")]
mod thread {
    use super::super::slots::PORTABLE;
    use core::cell::Cell;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::thread_local;

    thread_local! {
        static PREFERRED: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// A number of the calling thread's, not 0.
    pub(in super::super) fn token() -> u64 {
        PREFERRED.with(|p| core::ptr::from_ref(p).addr()) as u64
    }

    /// The portable slot that the calling thread had last.
    pub(in super::super) fn preferred() -> usize {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        match PREFERRED.get() {
            usize::MAX => {
                let n = NEXT.fetch_add(1, Ordering::Relaxed) % PORTABLE;
                prefer(n);
                n
            }
            n => n,
        }
    }

    /// Sets that.
    pub(in super::super) fn prefer(slot: usize) {
        PREFERRED.set(slot);
    }
}

#[cfg(not(feature = "std"))]
mod thread {
    use super::super::slots::PORTABLE;

    /// Not 0. Nobody tells of forks, which is all that it is for.
    pub(in super::super) fn token() -> u64 {
        1
    }

    /// A slot by the stack that the thread is on: without std that is all that tells threads apart.
    pub(in super::super) fn preferred() -> usize {
        let here = 0u8;
        let stack = (&raw const here).addr() >> 16; // smaller than the smallest stack
        // Fibonacci hashing, so that neighbouring stacks differ.
        (stack as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(16) as usize % PORTABLE
    }

    /// Not kept.
    pub(in super::super) fn prefer(_: usize) {}
}

pub(super) use thread::{prefer, preferred, token};

/// What the calling thread takes locks by: nobody is told from others by it.
pub(super) fn name() -> u64 {
    token()
}

/// Whom a name is of.
#[derive(PartialEq, Eq)]
#[allow(dead_code, reason = "the twin of a type that is made elsewhere")]
pub(super) enum Holder {
    /// The one who asks.
    Me,
    /// Another thread.
    Another,
    /// One of a process that this one was forked from.
    LeftBehind,
}

/// Another's: no handler interrupts a holder, and nobody tells of forks.
pub(super) fn holder(_: u64, _: u64) -> Holder {
    Holder::Another
}

/// Not called: nobody tells of forks.
#[allow(dead_code, reason = "the twin's signatures")]
pub(super) fn renew() -> (u64, u64) {
    (token(), token())
}

/// Nothing: nobody tells of forks.
pub(super) fn register_atfork() {}

/// Not counted.
pub(super) fn forks() -> u32 {
    0
}

/// What the twin blocks signals with.
pub(super) struct NotBlocked;

/// Nothing: no handler allocates.
///
/// # Errors
/// None.
pub(super) fn block_signals() -> Result<NotBlocked, Refusal> {
    Ok(NotBlocked)
}

/// What is in force.
pub(super) fn report() -> Report {
    Report {
        backend: Backend::Portable,
        reason: Reason::Build,
        cid: false,
    }
}
