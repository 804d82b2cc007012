//! [`PerCpu`]: a variable with a copy for each slot, made and dropped while the program runs.
//!
//! # Safety
//! 1. `at` is the copy of slot 0 in memory of `allocator`, zero when it was allocated, and freed only by the drop.
#![expect(unsafe_code, reason = "words by address")]

use super::index::Index;
use super::slots::{Slot, copy_in};
use super::word::{Bits, Integer, Sealed, Word, Zeroed};
use super::{Cpu, allocator, this_cpu};
use crate::error::Refusal;
use crate::sys::process;
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

/// A `T` for each slot, all zeroes at first. Indexed by `cpu_id`, or with [`Cid`](super::Cid) by `mm_cid`.
///
/// A word has the operations of [`this_cpu`] as methods; for a larger `T`, see [`as_ptr`](Self::as_ptr).
///
/// It is invariant in `T`, because it can be written to:
///
/// ```compile_fail
/// # use cyclewise::percpu::{PerCpu, Zeroed};
/// struct Named<'a>(Option<&'a str>);
/// # // SAFETY: all zeroes is `None`.
/// unsafe impl Zeroed for Named<'_> {}
/// fn shorter<'v, 'a>(v: &'v PerCpu<Named<'static>>) -> &'v PerCpu<Named<'a>> {
///     v
/// }
/// ```
#[repr(transparent)]
pub struct PerCpu<T: Zeroed, I: Index = Cpu> {
    at: NonNull<T>,
    /// The index, and invariance in `T`, as in `Cell<T>`.
    of: PhantomData<fn(T) -> (T, I)>,
}

// SAFETY: only words have safe methods, and any thread may change and load a word; the rest is raw pointers.
unsafe impl<T: Zeroed, I: Index> Send for PerCpu<T, I> {}
// SAFETY: only words have safe methods, and threads may change and load a word at once; the rest is raw pointers.
unsafe impl<T: Zeroed, I: Index> Sync for PerCpu<T, I> {}

impl<T: Zeroed, I: Index> PerCpu<T, I> {
    /// A new variable. A `T` larger than 64 KiB or aligned to more than 4 KiB does not compile.
    ///
    /// If there is no address space left, it calls the handler of allocation errors, as `Box::new` does; see
    /// [`try_new`](Self::try_new).
    pub fn new() -> Self {
        or_end(Self::try_new(), Layout::new::<T>(), "a variable")
    }

    /// A new variable.
    ///
    /// # Errors
    /// ENOMEM of mmap, or a filter keeps signals from being blocked.
    pub fn try_new() -> Result<Self, Refusal> {
        const { allocator::check::<T>() };
        Ok(Self {
            at: allocator::allocate(Layout::new::<T>())?.cast(),
            of: PhantomData,
        })
    }

    /// The variable that `leak` gave up.
    ///
    /// # Safety
    /// [`leak`](Self::leak) of this type returned it, and no other value owns it.
    pub(super) unsafe fn from_leaked(at: NonNull<T>) -> Self {
        Self { at, of: PhantomData }
    }

    /// Gives up the variable without a drop; returns the address of slot 0's copy.
    pub(super) fn leak(self) -> NonNull<T> {
        core::mem::ManuallyDrop::new(self).at
    }

    /// The copy of slot 0: what [`this_cpu`]'s functions take.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut T {
        self.at.as_ptr()
    }

    /// The copy of a slot, valid as long as `self`. The contract of [`this_cpu`] says when it may be read or written.
    #[inline(always)]
    pub fn slot_ptr(&self, slot: Slot) -> *mut T {
        copy_in(self.at.as_ptr(), slot)
    }
}

/// The value; without one, says on standard error for what and why not, and calls the handler of allocation errors, which knows a size only.
pub(super) fn or_end<V>(made: Result<V, Refusal>, layout: Layout, what: &str) -> V {
    made.unwrap_or_else(|refusal| {
        process::say(format_args!(
            "cyclewise: no memory for {what} of {} bytes for each CPU: {refusal}\n",
            layout.size()
        ));
        alloc::alloc::handle_alloc_error(layout)
    })
}

this_cpu::methods!(PerCpu, '_ self);

impl<W: Word, I: Index> PerCpu<W, I> {
    /// A slot's copy at some moment. Relaxed.
    pub fn get(&self, slot: Slot) -> W {
        // SAFETY: Safety 1: a word in every slot, changed by atomics and sequences.
        W::of_bits(unsafe { <W as Sealed>::Bits::load(self.slot_ptr(slot).cast()) })
    }
}

impl<W: Integer, I: Index> PerCpu<W, I> {
    /// The sum of all copies, each at some moment of the call. Exact if no thread adds meanwhile and all additions
    /// happened before.
    ///
    /// Cost: a load for each CPU that this kernel can have, in steps of 64, and for each portable slot ever used.
    pub fn sum(&self) -> W {
        // SAFETY: all zeroes is a value (the contract of `Zeroed`).
        let zero: W = unsafe { core::mem::zeroed() };
        Slot::all().fold(zero, |sum, slot| sum.wrapping_sum(self.get(slot)))
    }
}

impl<T: Zeroed, I: Index> Drop for PerCpu<T, I> {
    fn drop(&mut self) {
        // SAFETY: Safety 1; `self` is not borrowed, so no sequence on it is in progress.
        unsafe { allocator::free(self.at.cast(), Layout::new::<T>()) };
    }
}

impl<T: Zeroed, I: Index> Default for PerCpu<T, I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Zeroed, I: Index> fmt::Debug for PerCpu<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PerCpu").field(&self.at).finish()
    }
}
