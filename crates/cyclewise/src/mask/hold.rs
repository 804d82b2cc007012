//! Holding: the guard, the kernel's form of it, and the thread's state behind both.
//!
//! # Safety
//! 1. A thread's block is zeroed, aligned to 64 and as long as a [`ThreadMask`], of which all zeroes are valid; it lives as
//!    long as its thread, and nothing else uses it. `thread_mask` is called for one access at a time, and no reference is kept.
#![expect(unsafe_code, reason = "the thread's block is memory until it is called a ThreadMask")]

use super::registry::ProcessEnv;
use super::thread_mask::ThreadMask;
use crate::arch::{THREAD_BLOCK, thread_block};
use core::marker::PhantomData;

const _: () = assert!(size_of::<ThreadMask>() <= THREAD_BLOCK && align_of::<ThreadMask>() <= 64);

/// The calling thread's state.
#[inline(always)]
pub(super) fn thread_mask<'a>() -> &'a ThreadMask {
    let block = thread_block().cast::<ThreadMask>();
    // SAFETY: Invariant 1; a ThreadMask is atomics, so handlers may have it as well.
    unsafe { &*block }
}

/// A hold of the calling thread's. Dropping it gives it back; forgetting it leaves the thread held for ever.
///
/// It proves that no handler of ours runs on this thread but by whom it was given to.
#[derive(Debug)]
pub struct Hold(PhantomData<*const ()>);

impl Hold {
    /// A proof for who knows that the thread is held, and will not drop it.
    pub(super) fn proof() -> core::mem::ManuallyDrop<Self> {
        core::mem::ManuallyDrop::new(Self(PhantomData))
    }
}

/// Holds signals off: until the guard is dropped, no handler registered with [`Signals`](super::Signals) runs on this
/// thread. Nests. Kernel and C library hear nothing of it.
///
/// Ordering: what is done under the hold is not moved out of it, as far as handlers on this thread can see. None
/// towards other threads.
///
/// Cost: a load, a branch, a store.
#[inline(always)]
#[doc(alias = "local_irq_disable")]
pub fn hold() -> Hold {
    thread_mask().hold(&ProcessEnv);
    Hold(PhantomData)
}

impl Drop for Hold {
    /// Gives the hold back. Where it was the last, the handlers of what came meanwhile run before this returns, oldest
    /// first.
    #[inline(always)]
    fn drop(&mut self) {
        thread_mask().release(&ProcessEnv);
    }
}

/// Whether a thread was open before [`save`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is saved has to be restored, or the thread stays held"]
pub struct Flags {
    open: bool,
    thread: PhantomData<*const ()>,
}

impl Flags {
    /// Whether it was held already.
    #[must_use]
    #[doc(alias = "irqs_disabled_flags")]
    pub fn are_held(&self) -> bool {
        !self.open
    }
}

/// Holds signals off and says how it was before: the kernel's `local_irq_save`.
///
/// Proves nothing to [`Masked`](super::Masked): only a guard does. Cost: a load, a branch, a store.
#[inline(always)]
#[doc(alias = "local_irq_save")]
pub fn save() -> Flags {
    Flags {
        open: thread_mask().save(&ProcessEnv),
        thread: PhantomData,
    }
}

/// Puts it back as it was: the kernel's `local_irq_restore`. Restoring "held" does nothing. Restoring "open" is a store, a
/// test, and a branch that is taken where a signal came.
///
/// A guard that was taken meanwhile and still lives keeps its hold. Ordering: as of dropping a guard.
#[inline(always)]
#[doc(alias = "local_irq_restore")]
pub fn restore(flags: Flags) {
    if flags.open {
        thread_mask().release(&ProcessEnv);
    }
}

/// Whether the calling thread is held.
#[inline]
#[must_use]
#[doc(alias = "irqs_disabled")]
pub fn is_held() -> bool {
    thread_mask().is_held()
}

/// Whether a signal waits for the calling thread's release.
#[must_use]
pub fn is_pending() -> bool {
    thread_mask().is_pending()
}

/// How often the calling thread had more signals recorded than it has room for, so that the kernel was asked to keep
/// the rest until release. Nothing is lost by it; a release costs a system call more.
#[must_use]
pub fn overflows() -> u64 {
    thread_mask().overflows()
}

/// How many signals of the calling thread were lost: a hold in which somebody unblocks signals again and again fills the
/// room for records, and then the kernel refused to take one back, by a filter (seccomp) or for a second because the user
/// had as many queued as is allowed.
#[must_use]
pub fn lost() -> u64 {
    thread_mask().lost()
}
