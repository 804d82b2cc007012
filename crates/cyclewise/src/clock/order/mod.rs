//! Types that say what a reading is ordered with.
//!
//! A counter is not memory: a CPU may read it earlier or later than the accesses around it. Each type here is one
//! guarantee about that, at its price. The default is the kernel's, [`LoadOrdered`].
//!
//! | type | earlier loads | later loads | earlier stores | use |
//! |---|---|---|---|---|
//! | [`PerTask`] | – | – | – | durations measured by one thread |
//! | [`LoadOrdered`] | before | – | – | stamps that threads compare |
//! | [`DependentLoad`] | before | after | – | a stamp before something is read |
//! | [`Bracketed`] | before | after | executed, perhaps not seen by others | timing a section |
//! | [`AfterStores`] | before | after | seen by every CPU | a stamp of what was stored before |
//!
//! What is said of later loads holds while the counter is read: behind the kernel's clock, which stands in for it where the
//! counter cannot be trusted, nothing keeps a later load.
//!
//! # A fence does not order a store before a reading
//! `fence(SeqCst)` and locked instructions order accesses of memory, and the counter is none. LLVM makes `lock or [rsp]` of
//! the fence; on a Zen 3 (KVM, November 2026) that was followed by LFENCE and RDTSC, and in 11 % of 2.4 million tries another CPU that read a
//! later time did not find the store, for up to 650 ns. With MFENCE, which waits until every earlier store is seen, it was
//! none of 4.9 million. [`AfterStores`] executes it, and DSB on AArch64; on other architectures it is a fence, and nothing
//! stronger is promised. `cyclewise verify clock` tries both on the machine at hand.
//!
//! # References
//! A. Lutomirski and I. Molnar, "x86-64: Optimize vread_tsc's barriers", 2011: Molnar proposes the first, Lutomirski the
//! third; the kernel has the second today.

#[cfg(feature = "std")]
mod per_task;

#[cfg(feature = "std")]
pub use per_task::PerTask;

use super::Source;
use crate::arch::counter;

mod sealed {
    pub trait Sealed {}
}

/// A way to read the counter.
pub trait Order: Copy + sealed::Sealed + 'static {
    /// Whether later loads wait for the counter. A reading then loads what it needs before the counter, and otherwise
    /// after it, where the loads take no time: the CPU executes them while it reads the counter.
    #[doc(hidden)]
    const HOLDS_LATER_LOADS: bool = false;

    /// Reads the counter of `source`.
    #[doc(hidden)]
    fn ticks<S: Source>(source: &S) -> u64;

    /// Raises a time to what the thread has already seen, if the order of reads alone does not ensure that.
    #[doc(hidden)]
    #[inline(always)]
    fn apply_floor<S: Source>(_: &S, ns: u64) -> u64 {
        ns
    }
}

/// After every earlier load: a time read after seeing another thread's store is not below the time that thread read
/// before the store. The kernel's `rdtsc_ordered()`.
///
/// Others may see an earlier store after the reading, also behind a fence, and a later load may happen before it.
#[doc(alias = "rdtsc_ordered")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadOrdered;

/// [`LoadOrdered`], and before every later load, by a load whose address depends on the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DependentLoad;

/// After every earlier instruction and before every later one.
///
/// Earlier stores have been executed; other CPUs may not see them yet, also where a fence is between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bracketed;

/// [`Bracketed`], and after every CPU sees what this thread stored before: a thread that reads a later
/// [`DependentLoad`], `Bracketed` or `AfterStores` time, and then loads, finds it.
///
/// No fence before another order ensures that: see the [module](self#a-fence-does-not-order-a-store-before-a-reading). It
/// costs as much as the stores take to leave the CPU, at least an MFENCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AfterStores;

impl sealed::Sealed for LoadOrdered {}
impl sealed::Sealed for DependentLoad {}
impl sealed::Sealed for Bracketed {}
impl sealed::Sealed for AfterStores {}

impl Order for LoadOrdered {
    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.load_ordered()
    }
}

impl Order for DependentLoad {
    // x86 keeps loads in order, and executes them early all the same.
    const HOLDS_LATER_LOADS: bool = cfg!(not(target_arch = "x86_64"));

    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.dependent_load()
    }
}

impl Order for Bracketed {
    const HOLDS_LATER_LOADS: bool = true;

    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        source.bracketed()
    }
}

impl Order for AfterStores {
    const HOLDS_LATER_LOADS: bool = true;

    #[inline(always)]
    fn ticks<S: Source>(source: &S) -> u64 {
        counter::wait_for_stores();
        source.bracketed()
    }
}

/// Copies and comparisons of a time, whatever its order: a derive would require them of the order.
macro_rules! comparable {
    ($time:ident, $field:ident) => {
        impl<O: Order> Clone for $time<O> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<O: Order> Copy for $time<O> {}

        impl<O: Order> PartialEq for $time<O> {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.$field == other.$field
            }
        }

        impl<O: Order> Eq for $time<O> {}

        impl<O: Order> PartialOrd for $time<O> {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl<O: Order> Ord for $time<O> {
            #[inline]
            fn cmp(&self, other: &Self) -> core::cmp::Ordering {
                self.$field.cmp(&other.$field)
            }
        }
    };
}
pub(super) use comparable;
