//! [`StaticPerCpu`]: a variable of the program's, whose areas appear at its first use.
//!
//! # States
//! `at` is null until the first use, and then the address of slot 0's copy for ever.
//!
//! # Safety
//! 1. A pointer that is not null is a leaked [`PerCpu`] of the same type.
#![expect(unsafe_code, reason = "a view of mapped areas")]

use super::index::Index;
use super::slots::{Slot, place};
use super::variable::PerCpu;
use super::word::{Integer, Word, Zeroed};
use super::{Cpu, this_cpu};
use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Declares statics with a copy for each slot: `static NAME: u64;`, or `static NAME: u64 => Cid;`.
#[macro_export]
macro_rules! percpu {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty $(=> $index:ident)?;)*) => { $(
        $(#[$meta])*
        $vis static $name: $crate::percpu::StaticPerCpu<$type $(, $crate::percpu::$index)?> =
            $crate::percpu::StaticPerCpu::new();
    )* };
}

/// A `T` for each slot, as [`percpu!`](crate::percpu!) declares it. Otherwise as [`PerCpu`].
pub struct StaticPerCpu<T: Zeroed, I: Index = Cpu> {
    at: AtomicPtr<T>,
    index: PhantomData<fn() -> I>,
}

impl<T: Zeroed, I: Index> StaticPerCpu<T, I> {
    /// For the macro.
    pub const fn new() -> Self {
        Self {
            at: AtomicPtr::new(ptr::null_mut()),
            index: PhantomData,
        }
    }

    /// The copy of slot 0: what [`this_cpu`]'s functions take.
    ///
    /// Where there is no address space left at the first use, it ends as `Box::new` does.
    #[inline(always)]
    pub fn as_ptr(&'static self) -> *mut T {
        // Acquire: pairs with the Release of `first`. What it leads to is mapped and zero already, by the kernel.
        let at = self.at.load(Ordering::Acquire);
        if at.is_null() { self.first() } else { at }
    }

    /// The copy of a slot.
    #[inline(always)]
    pub fn of(&'static self, slot: Slot) -> *mut T {
        place(self.as_ptr(), slot)
    }

    /// As a [`PerCpu`], for methods that are not on a hot path.
    #[inline]
    pub fn get_ref(&'static self) -> ManuallyDrop<PerCpu<T, I>> {
        let at = NonNull::new(self.as_ptr()).unwrap_or(NonNull::dangling());
        // SAFETY: Invariant 1. It is never dropped, so the variable stays.
        ManuallyDrop::new(unsafe { PerCpu::from_leaked(at) })
    }

    #[cold]
    #[inline(never)]
    fn first(&'static self) -> *mut T {
        let new = PerCpu::<T, I>::new().leak();
        // Release: pairs with the Acquire of `as_ptr`. Acquire on failure, for the same.
        match self
            .at
            .compare_exchange(ptr::null_mut(), new.as_ptr(), Ordering::Release, Ordering::Acquire)
        {
            Ok(_) => new.as_ptr(),
            Err(theirs) => {
                // SAFETY: leaked above, and seen by nobody.
                drop(unsafe { PerCpu::<T, I>::from_leaked(new) });
                theirs
            }
        }
    }
}

impl<T: Zeroed, I: Index> Default for StaticPerCpu<T, I> {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! forward {
    ($bound:ident: $($(#[$doc:meta])* $name:ident($($arg:ident),*) $(-> $ret:ty)?;)*) => {
        impl<W: $bound, I: Index> StaticPerCpu<W, I> { $(
            $(#[$doc])*
            #[inline(always)]
            pub fn $name(&'static self, $($arg: W),*) $(-> $ret)? {
                // SAFETY: a word of a static lives for ever (Invariant 1).
                unsafe { this_cpu::$name::<I, W>(self.as_ptr(), $($arg),*) }
            }
        )* }
    };
}

forward! { Word:
    /// Loads the current CPU's copy.
    read() -> W;
    /// Stores to the current CPU's copy.
    write(value);
    /// Stores to the current CPU's copy, as a release.
    write_release(value);
    /// Stores to the current CPU's copy, and returns what was there.
    xchg(value) -> W;
    /// Stores `new` to the current CPU's copy where that holds `old`; returns what was found.
    cmpxchg(old, new) -> W;
}

forward! { Integer:
    /// Adds to the current CPU's copy, and wraps around.
    add(value);
    /// Adds to the current CPU's copy, and wraps around; a release.
    add_release(value);
    /// Ands the current CPU's copy.
    and(value);
    /// Ors the current CPU's copy.
    or(value);
    /// Adds to the current CPU's copy, wraps around, and returns the sum.
    add_return(value) -> W;
}

impl<W: Word, I: Index> StaticPerCpu<W, I> {
    /// A slot's copy, as it was at some moment. Relaxed.
    pub fn get(&'static self, slot: Slot) -> W {
        self.get_ref().get(slot)
    }
}

impl<W: Integer, I: Index> StaticPerCpu<W, I> {
    /// All slots' copies added; as [`PerCpu::sum`].
    pub fn sum(&'static self) -> W {
        self.get_ref().sum()
    }
}
