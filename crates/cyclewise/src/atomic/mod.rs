//! std's atomic types, with LOCK prefixes that [`patch`](crate::patch) can elide and restore.
//!
//! **An elided read-modify-write orders nothing for other processes, the kernel or devices**, `SeqCst` or not. Where a protocol with one of
//! them needs a full fence (the flags of an `io_uring`'s ring, queues in shared memory), use [`fence`] or std's types.
//!
//! These have the names, orderings and layout of `core::sync::atomic`'s types: each is a transparent wrapper of std's.
//! Loads, stores, swaps and fences are std's own: plain MOVs, XCHG, which locks without a prefix, and whatever the
//! compiler makes of a fence. Every other read-modify-write is one instruction whose prefix is a site, or a loop around
//! one. The whole stable API of std is here, except what std has deprecated (`compare_and_swap`).
//!
//! In addition there are operations that return nothing or only a flag (`inc`, `dec_and_test`, ..), under the names of
//! Linux's `atomic_t`. An `asm` block cannot know whether its result is used, so these do what std leaves to the
//! optimizer: while elided, `inc` costs a plain increment and `fetch_add` several times that.
//!
//! # Memory ordering
//! Orderings mean what they mean in std, and invalid ones panic as in std. While LOCK is in force every
//! read-modify-write is sequentially consistent, whatever the argument. While it is elided, each is still a compiler
//! barrier, and no other CPU runs this program to observe a difference.
//!
//! [`fence`] and sequentially consistent stores are never elided, because they may order accesses of other types to
//! memory that another process, the kernel or a device also accesses. std's types in such memory, with [`fence`]
//! between them, keep their meaning in every mode.
//!
//! # What not to use these for
//! - Memory that another process, the kernel or a device also accesses: shared mappings, `io_uring` rings. Eliding
//!   considers only this process's threads. Use std's types there.
//! - Ordering accesses to such memory by a read-modify-write of these types, even of private memory: an instruction without LOCK is not
//!   a barrier.
//!
//! # References
//! Intel SDM vol. 3, 8.2.3.4 (loads may be reordered with earlier stores) and 8.2.3.9 (locked instructions order);
//! Linux Documentation/atomic_t.txt; portable-atomic, whose effect-only operations these follow.

mod boolean;
mod common;
mod integer;
mod pointer;
#[cfg(feature = "serde")]
mod serde;

pub use boolean::AtomicBool;
pub use core::sync::atomic::{Ordering, compiler_fence, fence};
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;

/// Checks the failure ordering of a compare-and-exchange.
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

/// The ordering of the first load of a compare-and-exchange loop: the last exchange orders everything.
const FIRST_LOOK: Ordering = Ordering::Relaxed;

/// The result of std's `compare_exchange`, given the old value.
#[inline(always)]
fn exchanged<T: PartialEq>(found: T, expected: T) -> Result<T, T> {
    if found == expected { Ok(found) } else { Err(found) }
}
