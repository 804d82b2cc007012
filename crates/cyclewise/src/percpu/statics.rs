//! [`StaticPerCpu`]: a static variable, whose memory is allocated at its first use.
//!
//! # Safety
//! 1. Methods take `&'static self`, so the variable is never dropped once it is allocated; a static gives out references,
//!    never the owner.
#![expect(unsafe_code, reason = "words by address")]

use super::index::Index;
use super::lazy::Lazy;
use super::slots::{Slot, copy_in};
use super::variable::{PerCpu, or_end};
use super::word::{Integer, Word, Zeroed};
use super::{Cpu, this_cpu};
use core::alloc::Layout;

/// Declares statics with a copy for each slot: `static NAME: u64;`, or `static NAME: u64 => Cid;`.
#[macro_export]
macro_rules! percpu {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty $(=> $index:ident)?;)*) => { $(
        $(#[$meta])*
        $vis static $name: $crate::percpu::StaticPerCpu<$type $(, $crate::percpu::$index)?> =
            $crate::percpu::StaticPerCpu::named($crate::__core::concat!(
                "static ",
                $crate::__core::module_path!(),
                "::",
                $crate::__core::stringify!($name)
            ));
    )* };
}

/// A `T` for each slot, as [`percpu!`](crate::percpu!) declares it. Otherwise as [`PerCpu`].
///
/// No other owner exists, so it cannot be dropped:
///
/// ```compile_fail
/// cyclewise::percpu! { static HITS: u64; }
/// drop(std::mem::ManuallyDrop::into_inner(HITS.get_ref()));
/// ```
///
/// ```compile_fail
/// cyclewise::percpu! { static HITS: u64; }
/// let hits: cyclewise::percpu::PerCpu<u64> = *HITS.get_ref();
/// ```
///
/// A local variable is not a static:
///
/// ```compile_fail
/// let hits = cyclewise::percpu::StaticPerCpu::<u64>::new();
/// hits.add(1);
/// ```
///
/// # Examples
/// ```
/// use cyclewise::percpu::PerCpu;
///
/// cyclewise::percpu! { static HITS: u64; }
///
/// fn total(of: &PerCpu<u64>) -> u64 {
///     of.sum()
/// }
///
/// HITS.add(1);
/// assert_eq!(total(HITS.get_ref()), 1);
/// ```
#[derive(Debug)]
pub struct StaticPerCpu<T: Zeroed, I: Index = Cpu> {
    variable: Lazy<T, I>,
    /// For the line that says that there is no memory.
    name: &'static str,
}

impl<T: Zeroed, I: Index> StaticPerCpu<T, I> {
    /// One without a name; [`percpu!`](crate::percpu!) gives it one.
    pub const fn new() -> Self {
        Self::named("a static")
    }

    /// Used by [`percpu!`](crate::percpu!): the name is said where there is no memory.
    pub const fn named(name: &'static str) -> Self {
        Self {
            variable: Lazy::new(),
            name,
        }
    }

    /// The copy of slot 0: what [`this_cpu`]'s functions take.
    ///
    /// If there is no memory at the first use, standard error says of which static and why, and the handler of allocation errors is called, as by `Box::new`.
    #[inline(always)]
    pub fn as_ptr(&'static self) -> *mut T {
        match self.variable.allocated() {
            Some(at) => at.as_ptr(),
            None => self.allocate(),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate(&'static self) -> *mut T {
        or_end(self.variable.try_allocate(), Layout::new::<T>(), self.name);
        self.variable.as_ptr()
    }

    /// The copy of a slot.
    #[inline(always)]
    pub fn slot_ptr(&'static self, slot: Slot) -> *mut T {
        copy_in(self.as_ptr(), slot)
    }

    /// As a [`PerCpu`], for functions that take one by reference.
    #[inline]
    pub fn get_ref(&'static self) -> &'static PerCpu<T, I> {
        self.as_ptr();
        self.variable.get()
    }
}

impl<T: Zeroed, I: Index> Default for StaticPerCpu<T, I> {
    fn default() -> Self {
        Self::new()
    }
}

this_cpu::methods!(StaticPerCpu, 'static self);

impl<W: Word, I: Index> StaticPerCpu<W, I> {
    /// A slot's copy at some moment. Relaxed.
    pub fn get(&'static self, slot: Slot) -> W {
        self.get_ref().get(slot)
    }
}

impl<W: Integer, I: Index> StaticPerCpu<W, I> {
    /// The sum of all copies, as [`PerCpu::sum`].
    pub fn sum(&'static self) -> W {
        self.get_ref().sum()
    }
}
