//! What a reading is ordered with, as a type.
//!
//! A counter is not memory: a CPU may read it earlier or later than the accesses around it. Each type here is a promise
//! about that, with its price. The default is the kernel's own, [`LoadOrdered`].
//!
//! | type | earlier loads | later loads | earlier stores | use |
//! |---|---|---|---|---|
//! | [`PerTask`] | – | – | – | durations measured by one thread |
//! | [`LoadOrdered`] | before | – | – | stamps that threads compare |
//! | [`DependentLoad`] | before | after | – | a stamp before something is read |
//! | [`Bracketed`] | before | after | executed, perhaps not seen by others | timing a section |
//!
//! # References
//! A. Lutomirski and I. Molnar, "x86-64: Optimize vread_tsc's barriers", 2011: Molnar proposes the first, Lutomirski the
//! third; the kernel has the second today.

use super::Source;

mod sealed {
    pub trait Sealed {}
}

/// A way to read the counter.
pub trait Order: Copy + sealed::Sealed + 'static {
    /// Reads the counter of `source`.
    #[doc(hidden)]
    fn ticks<S: Source>(source: &S) -> u64;

    /// Keeps a time from being below what the thread has seen, where the order of reads alone does not.
    #[doc(hidden)]
    #[inline(always)]
    fn apply_floor<S: Source>(_: &S, ns: u64) -> u64 {
        ns
    }
}

/// The bare counter: times of one thread never go back, whatever CPU it runs on; those of two threads may be off by what
/// the CPU reorders, tens of nanoseconds.
///
/// That they do not go back does not rest on the CPU: the last time is kept per thread.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerTask;

/// After every earlier load, so that a time read after seeing what another thread has stored is not below the time that
/// it read before: what `rdtsc_ordered()` is in the kernel.
///
/// A store before the reading may be seen by others after it, and a later load may be made before it.
#[doc(alias = "rdtsc_ordered")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadOrdered;

/// [`LoadOrdered`], and before every later load, by a load whose address hangs on the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DependentLoad;

/// After every earlier instruction and before every later one.
///
/// Earlier stores have been executed; other CPUs may not see them yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bracketed;

#[cfg(feature = "std")]
impl sealed::Sealed for PerTask {}
impl sealed::Sealed for LoadOrdered {}
impl sealed::Sealed for DependentLoad {}
impl sealed::Sealed for Bracketed {}

#[cfg(feature = "std")]
impl Order for PerTask {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.bare()
    }

    #[inline(always)]
    fn apply_floor<S: Source>(source: &S, ns: u64) -> u64 {
        source.raise_floor(ns)
    }
}

impl Order for LoadOrdered {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.load_ordered()
    }
}

impl Order for DependentLoad {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.dependent_load()
    }
}

impl Order for Bracketed {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.bracketed()
    }
}
