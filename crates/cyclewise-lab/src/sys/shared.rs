//! Memory shared with forked children: an anonymous mapping of atomics, all zero at first.
//!
//! # Invariants
//! 1. `first` is the start of a readable, writable mapping of `len` elements that lives as long as the value.
//! 2. Only atomics live there, and all zeroes is a valid value of each: processes may race on them as threads do.
//!
//! # Safety
//! mmap's result is checked; what is made of it rests on Invariants 1 and 2.
#![expect(unsafe_code, reason = "mmap, munmap, and a slice made of the mapping")]

use std::io;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Atomics whose all-zero value is valid (Invariant 2).
pub trait Atomic: sealed::Sealed {}
impl Atomic for AtomicU32 {}
impl Atomic for AtomicU64 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for std::sync::atomic::AtomicU32 {}
    impl Sealed for std::sync::atomic::AtomicU64 {}
}

/// Atomics that forked children see too.
pub struct Shared<A: Atomic> {
    first: NonNull<A>,
    len: usize,
}

// SAFETY: the mapping has no owner thread, and holds atomics only (Invariant 2).
unsafe impl<A: Atomic> Send for Shared<A> {}
// SAFETY: the mapping holds atomics only (Invariant 2), which threads may share.
unsafe impl<A: Atomic> Sync for Shared<A> {}

impl<A: Atomic> Shared<A> {
    /// Maps `len` zeroes, at least one.
    ///
    /// # Errors
    /// ENOMEM.
    pub fn zeroed(len: usize) -> io::Result<Self> {
        let len = len.max(1);
        // SAFETY: a new mapping wherever the kernel likes touches nothing of ours.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len * size_of::<A>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        match NonNull::new(at.cast::<A>()) {
            Some(first) => Ok(Self { first, len }),
            None => Err(io::ErrorKind::OutOfMemory.into()),
        }
    }
}

impl<A: Atomic> Deref for Shared<A> {
    type Target = [A];

    fn deref(&self) -> &[A] {
        // SAFETY: Invariants 1 and 2; mappings are aligned to a page.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl<A: Atomic> Drop for Shared<A> {
    fn drop(&mut self) {
        // SAFETY: Invariant 1, and nobody borrows what is being dropped.
        unsafe { libc::munmap(self.first.as_ptr().cast(), self.len * size_of::<A>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::{Fork, fork};
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn a_childs_store_is_seen_here() {
        let words = Shared::<AtomicU64>::zeroed(1000).unwrap();
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
