//! std's atomic types, with LOCK prefixes that [`patch`](crate::patch) can take away and give back.
//!
//! Name for name, ordering for ordering and byte for byte these are `core::sync::atomic`'s types: each is a transparent
//! wrapper of std's. Loads, stores and swaps are std's own, plain MOVs and XCHG, which locks without a prefix. Every
//! other read-modify-write is one instruction whose prefix is a site, or a loop around one. A sequentially consistent
//! store is a MOV and a [`fence()`], whose prefix is a site too.
//!
//! Beside std's API there are forms for their effect or for a flag (`inc`, `dec_and_test`, ..), under the names of
//! Linux's `atomic_t`. An `asm` block cannot know whether its result is wanted, so these spare what std's optimizer would:
//! while elided, `inc` costs a plain increment and `fetch_add` several times that.
//!
//! # Memory ordering
//! Orderings mean what they mean in std, and invalid ones panic as in std. While LOCK is in force every read-modify-write
//! is sequentially consistent, whatever was asked for. While elided it is a compiler barrier still, and no other CPU
//! runs this program to see a difference.
//!
//! A sequentially consistent store orders by the barrier behind it, XCHG by being one: the two mappings of C++ to x86
//! that agree with each other, so both may touch one location.
//!
//! # What these are not for
//! Memory that another process, the kernel or a device accesses as well: shared mappings, `io_uring` rings. Eliding
//! counts this process's threads only. Use std's types there.
//!
//! # References
//! <https://www.cl.cam.ac.uk/~pes20/cpp/cpp0xmappings.html> (the mappings);
//! Linux Documentation/atomic_t.txt; portable-atomic, whose effect-only forms these follow.

mod boolean;
mod common;
mod integer;
mod pointer;

#[cfg(not(loom))]
pub(crate) use crate::arch::{dec_negative_at, inc_negative_at};
pub use boolean::AtomicBool;
pub use core::sync::atomic::{Ordering, compiler_fence};
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;

/// std's `fence`; with `SeqCst` an instruction whose LOCK is a site.
///
/// # Panics
/// With `Relaxed`, as std does.
#[inline]
#[track_caller]
pub fn fence(order: Ordering) {
    match order {
        Ordering::SeqCst => crate::arch::fence(),
        _ => core::sync::atomic::fence(order),
    }
}

/// The ordering that a compare-and-exchange may fail with.
///
/// # Panics
/// With `Release` and `AcqRel`, as std does: a failed exchange stores nothing to release.
#[inline(always)]
#[track_caller]
fn failing(order: Ordering) -> Ordering {
    match order {
        Ordering::Release => panic!("there is no such thing as a release failure ordering"),
        Ordering::AcqRel => panic!("there is no such thing as an acquire-release failure ordering"),
        _ => order,
    }
}

/// The ordering of the load that opens a loop of compare-and-exchanges: the last exchange orders everything.
const FIRST_LOOK: Ordering = Ordering::Relaxed;

/// What std's `compare_exchange` returns, from what was found.
#[inline(always)]
fn exchanged<T: PartialEq>(found: T, expected: T) -> Result<T, T> {
    if found == expected { Ok(found) } else { Err(found) }
}
