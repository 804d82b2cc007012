//! A pair of fences of which one costs nothing: [`light`] on the path that runs often, [`heavy`] on the one that seldom runs.
//!
//! A [`light`] and a [`heavy`] fence order each other as two `fence(SeqCst)` do. Two light ones order nothing.
//!
//! ```
//! use cyclewise::fence;
//! use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
//!
//! static READING: AtomicBool = AtomicBool::new(false);
//! static CLOSED: AtomicBool = AtomicBool::new(false);
//!
//! // Often.
//! READING.store(true, Relaxed);
//! fence::light();
//! let may_read = !CLOSED.load(Relaxed);
//!
//! // Seldom. One of the two sees the other's store.
//! CLOSED.store(true, Relaxed);
//! fence::heavy();
//! let is_free = !READING.load(Relaxed);
//! # assert!(may_read && !is_free);
//! ```
//!
//! # States
//! The process chooses once, before the first fence is made, and keeps the choice, also in children of fork:
//! - *asymmetric*: a light fence restrains the compiler alone, and a heavy one is membarrier(2), which has every CPU that runs a
//!   thread of this process pass a full barrier;
//! - *symmetric*, where the kernel or a sandbox refuses membarrier(2), or a filter answers in the kernel's place: both are
//!   `fence(SeqCst)`.
//!
//! # Invariants
//! 1. No light fence is made before the choice, and it never changes.
//! 2. A heavy fence of an asymmetric process has reached the kernel, or does not return: see [`try_heavy`].
//!
//! # Memory ordering
//! If a store before a light fence is not seen by a load after a heavy one, then the store before that heavy fence is seen by the
//! load after that light one; and the same with the two exchanged. Accesses need to be `Relaxed` only. Memory that processes share is ordered
//! among the threads of one process alone.
//!
//! # Signal handlers, forks
//! Handlers may make all of them. A child of fork makes its fences among its own threads.
//!
//! # Cost
//! [`Asymmetric::light`] is no instruction. [`light`] is a load of the choice and a branch that is always predicted. [`heavy`]
//! is two system calls, the first of which returns at once, and an interrupt to every CPU that runs another thread of this process:
//! some microseconds for the caller, about one for each interrupted CPU, more in a virtual machine. [`heavy_batched`] shares
//! one among callers that come meanwhile. A symmetric process pays a full fence on both sides.
//!
//! # References
//! membarrier(2), Linux kernel/sched/membarrier.c; P1202, "Asymmetric fences"; folly/synchronization/AsymmetricThreadFence.h.

mod batch;
mod choice;
#[cfg(all(test, loom))]
mod tests;

use crate::error::Refusal;
use crate::primitive;
use crate::sys::membarrier;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

/// The cheap half: between a store and a load on the path that runs often.
#[inline(always)]
#[doc(alias = "asymmetric_thread_fence_light")]
pub fn light() {
    if choice::is_known_asymmetric() {
        compiler_fence(SeqCst);
    } else {
        light_slow();
    }
}

#[cold]
#[inline(never)]
fn light_slow() {
    if !is_asymmetric() {
        primitive::fence(SeqCst);
    }
}

/// The expensive half. Pairs with every [`light`] fence of this process.
///
/// # Panics
/// Where [`try_heavy`] returns an error.
#[doc(alias = "asymmetric_thread_fence_heavy")]
#[doc(alias = "membarrier")]
pub fn heavy() {
    made(try_heavy());
}

/// The same for many callers: one membarrier(2) serves all who came before it began. A caller who waited in vain for
/// another's, about 0.2 ms, makes its own; so a handler that interrupts a batch on its own thread does not wait for it, and a child of
/// fork not for a thread that it does not have.
///
/// # Panics
/// As [`heavy`].
pub fn heavy_batched() {
    made(try_heavy_batched());
}

/// [`heavy_batched`], or an error.
///
/// # Errors
/// As [`try_heavy`].
pub fn try_heavy_batched() -> Result<(), Refusal> {
    if is_asymmetric() {
        batch::join(try_heavy)
    } else {
        try_heavy()
    }
}

/// [`heavy`], or an error.
///
/// # Errors
/// A filter that was installed after the process had chosen refuses membarrier(2), or answers in the kernel's place. Nothing
/// else can interrupt the other CPUs, so no fence was made.
pub fn try_heavy() -> Result<(), Refusal> {
    // Both, in either case: before and after the interrupts this thread's own accesses are ordered too.
    primitive::fence(SeqCst);
    if !is_asymmetric() || membarrier::barrier() {
        return Ok(());
    }
    Err(Refusal::System {
        call: "membarrier PRIVATE_EXPEDITED",
        errno: libc::EPERM,
    })
}

#[track_caller]
fn made(result: Result<(), Refusal>) {
    if let Err(refusal) = result {
        panic!("no heavy fence: {refusal}");
    }
}

/// Whether light fences are free in this process. Chooses, if that is not done.
#[must_use]
pub fn is_asymmetric() -> bool {
    choice::is_asymmetric()
}

/// A proof that this process is asymmetric, for light fences of no instruction.
///
/// # Examples
/// ```
/// use cyclewise::fence::{self, Asymmetric};
///
/// match Asymmetric::get() {
///     Some(fences) => fences.light(),
///     None => fence::light(), // A `fence(SeqCst)`.
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Asymmetric(());

impl Asymmetric {
    /// The proof, or `None` in a symmetric process.
    #[must_use]
    pub fn get() -> Option<Self> {
        is_asymmetric().then_some(Self(()))
    }

    /// [`light`], without an instruction.
    #[inline(always)]
    pub fn light(self) {
        compiler_fence(SeqCst);
    }
}
