//! Memory shared with forked children: an anonymous mapping of atomics, all zero at first.
//!
//! # Invariants
//! 1. `mapping` is readable, writable and `len` elements long.
//! 2. Only atomics live there, and all zeroes is a valid value of each: processes may race on them as threads do.
//!
//! # Safety
//! The slice made of the mapping rests on Invariants 1 and 2.
#![expect(unsafe_code, reason = "a slice made of a mapping")]

use super::mmap::Mapping;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Atomics whose all-zero value is valid (Invariant 2).
pub(crate) trait Atomic: sealed::Sealed {}
impl Atomic for AtomicU32 {}
impl Atomic for AtomicU64 {}

mod sealed {
    pub(crate) trait Sealed {}
    impl Sealed for std::sync::atomic::AtomicU32 {}
    impl Sealed for std::sync::atomic::AtomicU64 {}
}

/// Atomics that forked children see too.
pub(crate) struct SharedAtomics<A: Atomic> {
    mapping: Mapping,
    len: usize,
    of: PhantomData<A>,
}

// SAFETY: the mapping has no owner thread, and holds atomics only (Invariant 2).
unsafe impl<A: Atomic> Send for SharedAtomics<A> {}
// SAFETY: the mapping holds atomics only (Invariant 2), which threads may share.
unsafe impl<A: Atomic> Sync for SharedAtomics<A> {}

impl<A: Atomic> SharedAtomics<A> {
    /// Maps `len` zeroes, at least one.
    pub(crate) fn zeroed(len: usize) -> io::Result<Self> {
        let len = len.max(1);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        Ok(Self {
            mapping: Mapping::new(None, len * size_of::<A>(), protection, libc::MAP_SHARED)?,
            len,
            of: PhantomData,
        })
    }
}

impl<A: Atomic> Deref for SharedAtomics<A> {
    type Target = [A];

    fn deref(&self) -> &[A] {
        // SAFETY: Invariants 1 and 2; mappings are aligned to a page.
        unsafe { std::slice::from_raw_parts(self.mapping.start().cast().as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::{Fork, fork};
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_childs_store_is_seen_here() {
        let words = SharedAtomics::<AtomicU64>::zeroed(1000).unwrap();
        assert!(words.iter().all(|w| w.load(Relaxed) == 0));
        // SAFETY: the child only stores to the mapping.
        match unsafe { fork(60) }.unwrap() {
            Fork::Child(me) => {
                words[999].store(42, Relaxed);
                me.exit(0)
            }
            Fork::Parent(child) => assert!(child.wait().unwrap().success()),
        }
        assert_eq!(words[999].load(Relaxed), 42);
    }
}
