//! [`Pinned`]: the calling thread, confined to one CPU, whose copies it accesses through GS by single instructions.
//!
//! The base of GS is the CPU's offset, `cpu << 16`, and an instruction's address is that of slot 0's copy. So one base
//! serves all variables, and a base of 0 or of another CPU still addresses mapped memory.
//!
//! # Invariants
//! 1. While a `Pinned` lives, its thread's base is the offset of its CPU. It is not `Send`, and a thread has at most one. A
//!    new thread inherits its parent's base but has no `Pinned` to use it with.
//! 2. A single instruction on the CPU's copy excludes the CPU's sequences and other such instructions, while the thread
//!    is on its CPU.
//!
//! # What it cannot promise
//! Another process, or the kernel when the CPU goes offline, may migrate a confined thread. From then on, which
//! [`is_confined`](Pinned::is_confined) detects, its updates may be lost, or undo another thread's. That is safe: words are
//! integers or pointers, whose every value is valid. [`Pinned::enter`] is unsafe because other code in the thread, such as Wine, may use GS.
//!
//! # Cost
//! An instruction. Entering: three system calls where the kernel allows WRGSBASE, five elsewhere.
//!
//! # Safety
//! 1. An address is that of a word of a borrowed variable, mapped in every slot.
#![cfg_attr(
    not(all(feature = "std", target_arch = "x86_64")),
    allow(dead_code, unused_imports, reason = "there is no GS here, so none is entered")
)]
#![expect(unsafe_code, reason = "the base of GS, and words by address")]

#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), path = "no_gs.rs")]
mod prior_state;

use super::Cpu;
use super::slots::Slot;
use super::variable::PerCpu;
use super::word::{Integer, Sealed, Word};
use crate::arch::gs::{Base, Gs};
use crate::error::Refusal;
use core::marker::PhantomData;

/// The calling thread, confined to a CPU. The drop restores its affinity and the base of GS, and nothing else does: a thread whose
/// `Pinned` was forgotten (mem::forget, a cycle of `Rc`) stays on that CPU until it ends, and so do the threads that it creates.
///
/// Its operations are those of [`this_cpu`](super::this_cpu), on variables by [`Cpu`].
///
/// # Examples
/// ```
/// use cyclewise::percpu::{PerCpu, Pinned};
///
/// let hits = PerCpu::<u64>::new();
/// // SAFETY: nothing else in this thread uses GS.
/// match unsafe { Pinned::enter(0) } {
///     Ok(pinned) => pinned.inc(&hits), // One instruction.
///     Err(refusal) => {
///         eprintln!("by a restartable sequence: {refusal}");
///         hits.add(1);
///     }
/// }
/// assert_eq!(hits.sum(), 1);
/// ```
#[derive(Debug)]
pub struct Pinned {
    cpu: u32,
    base: Base,
    before: prior_state::PriorState,
    thread: PhantomData<*mut ()>,
}

impl Pinned {
    /// Confines the calling thread to `cpu`, and sets the base of its GS.
    ///
    /// # Safety
    /// Nothing else in this thread uses GS until the result is dropped, and it is dropped.
    ///
    /// # Errors
    /// [`Refusal::NoGs`] on other architectures, or if setting the base has no effect, as under gVisor;
    /// [`Refusal::GsInUse`] if other code uses the base, or the thread has a `Pinned`; the kernel's error, for a CPU that
    /// the thread may not run on. The thread is then unchanged.
    pub unsafe fn enter(cpu: u32) -> Result<Self, Refusal> {
        // SAFETY: the caller vouches that nothing else in this thread uses GS until the drop.
        let before = unsafe { prior_state::enter(cpu)? };
        // SAFETY: the base is set, for as long as the thread has `before`.
        let base = unsafe { Base::new() }.ok_or(Refusal::NoGs)?;
        Ok(Self {
            cpu,
            base,
            before,
            thread: PhantomData,
        })
    }

    /// The CPU's slot.
    pub fn slot(&self) -> Slot {
        Slot(self.cpu)
    }

    /// Whether the thread is still confined to its CPU. A system call.
    pub fn is_confined(&self) -> bool {
        self.before.is_confined(self.cpu)
    }

    /// Loads.
    #[inline(always)]
    pub fn read<W: Word>(&self, of: &PerCpu<W, Cpu>) -> W {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        W::of_bits(unsafe { <W as Sealed>::Bits::gs_read(self.base, of.as_ptr().cast()) })
    }

    /// Stores.
    #[inline(always)]
    pub fn write<W: Word>(&self, of: &PerCpu<W, Cpu>, value: W) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        unsafe { <W as Sealed>::Bits::gs_write(self.base, of.as_ptr().cast(), value.bits()) }
    }

    /// Adds one, and wraps around.
    #[inline(always)]
    pub fn inc<W: Integer>(&self, of: &PerCpu<W, Cpu>) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        unsafe { <W as Sealed>::Bits::gs_inc(self.base, of.as_ptr().cast()) }
    }

    /// Adds one to the word at `at`, a field of a larger variable.
    ///
    /// # Safety
    /// `at` is the copy of slot 0 of a word that a variable by [`Cpu`] holds, and that lives meanwhile.
    #[inline(always)]
    pub unsafe fn inc_at<W: Integer>(&self, at: *mut W) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1) of a word that the caller vouches for.
        unsafe { <W as Sealed>::Bits::gs_inc(self.base, at.cast()) }
    }

    /// Adds, and wraps around.
    #[inline(always)]
    pub fn add<W: Integer>(&self, of: &PerCpu<W, Cpu>, value: W) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        unsafe { <W as Sealed>::Bits::gs_add(self.base, of.as_ptr().cast(), value.bits()) }
    }

    /// Ands.
    #[inline(always)]
    pub fn and<W: Integer>(&self, of: &PerCpu<W, Cpu>, value: W) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        unsafe { <W as Sealed>::Bits::gs_and(self.base, of.as_ptr().cast(), value.bits()) }
    }

    /// Ors.
    #[inline(always)]
    pub fn or<W: Integer>(&self, of: &PerCpu<W, Cpu>, value: W) {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        unsafe { <W as Sealed>::Bits::gs_or(self.base, of.as_ptr().cast(), value.bits()) }
    }

    /// Stores `new` if the word is `old`; returns the value found.
    #[inline(always)]
    pub fn cmpxchg<W: Word>(&self, of: &PerCpu<W, Cpu>, old: W, new: W) -> W {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        W::of_bits(unsafe { <W as Sealed>::Bits::gs_cmpxchg(self.base, of.as_ptr().cast(), old.bits(), new.bits()) })
    }

    /// Adds, wraps around, and returns the sum.
    #[inline(always)]
    pub fn add_return<W: Integer>(&self, of: &PerCpu<W, Cpu>, value: W) -> W {
        // SAFETY: the base leads to this CPU's copy (Invariant 1), a valid word while the variable is borrowed.
        W::of_bits(unsafe { <W as Sealed>::Bits::gs_add_return(self.base, of.as_ptr().cast(), value.bits()) })
    }
}
