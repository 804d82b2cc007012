//! The calling thread's mask, and the proof that it is held.
//!
//! # Safety
//! 1. A thread's block is zeroed, aligned to 16 and as long as a [`ThreadMask`], for which all zeroes are valid. It
//!    lives as long as its thread, and nothing else uses it. Callers of [`thread_mask`] keep no reference beyond one
//!    call.
#![expect(unsafe_code, reason = "the thread's block is memory until it is called a ThreadMask")]

use super::thread_mask::ThreadMask;
use crate::arch::THREAD_BLOCK;
use crate::arch::thread_block::thread_block;
use core::marker::PhantomData;
use core::mem::ManuallyDrop;

const _: () = assert!(size_of::<ThreadMask>() <= THREAD_BLOCK && align_of::<ThreadMask>() <= 16);

#[inline(always)]
pub(super) fn thread_mask<'a>() -> &'a ThreadMask {
    let block = thread_block().cast::<ThreadMask>();
    // SAFETY: Invariant 1; a ThreadMask is atomics, so handlers may refer to it too.
    unsafe { &*block }
}

/// A hold on the calling thread. Dropping it releases it; forgetting it leaves the thread held forever.
///
/// It proves that no handler of this crate runs on the thread, except one that was given the hold.
#[derive(Debug)]
pub struct Hold(pub(super) PhantomData<*const ()>);

impl Hold {
    /// A hold for a caller that knows that the thread is held. It is never dropped.
    pub(super) fn proof() -> ManuallyDrop<Self> {
        ManuallyDrop::new(Self(PhantomData))
    }
}

/// The distance of a thread's mask from the thread pointer, for C programs, which hold and release inline; `None` where it is not the
/// same for all threads. The mask begins with `depth` and `pending`, of 32 bits each.
#[doc(hidden)]
pub fn __offset() -> Option<isize> {
    crate::arch::thread_block::offset()
}
