//! std's atomic types, with LOCK prefixes that [`patch`](crate::patch) can take away and give back.
//!
//! Name for name, ordering for ordering and byte for byte these are `core::sync::atomic`'s types: each is a transparent
//! wrapper of std's. Loads, stores, swaps and fences are std's own: plain MOVs, XCHG, which locks without a prefix, and
//! what the compiler makes of a fence. Every other read-modify-write is one instruction whose prefix is a site, or a loop
//! around one.
//!
//! All that std has on stable Rust is here, but for what it has deprecated (`compare_and_swap`).
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
//! [`fence`] and sequentially consistent stores are never elided. They are asked for to order accesses of other types,
//! which may be to memory that another process, the kernel or a device accesses as well; std's types in such memory and
//! [`fence`] between them keep their meaning in every mode.
//!
//! # What these are not for
//! - Memory that another process, the kernel or a device accesses as well: shared mappings, `io_uring` rings. Eliding
//!   counts this process's threads only. Use std's types there.
//! - Ordering accesses to such memory by a read-modify-write of these types, also one of private memory and also with
//!   `SeqCst`: an instruction without LOCK is no barrier. Use [`fence`], or std's read-modify-writes.
//!
//! # References
//! Intel SDM vol. 3, 8.2.3.4 (loads may be reordered with earlier stores) and 8.2.3.9 (locked instructions order);
//! Linux Documentation/atomic_t.txt; portable-atomic, whose effect-only forms these follow.

mod boolean;
mod common;
mod integer;
mod pointer;

pub use boolean::AtomicBool;
pub use core::sync::atomic::{Ordering, compiler_fence, fence};
pub use integer::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};
pub use pointer::AtomicPtr;

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
