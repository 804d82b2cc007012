//! A node, and [`Node`], which holds one.
//!
//! # Safety
//! 1. Sequences and the list's functions access only `next`, as an atomic; only its holder accesses the object. So a
//!    reference to the object conflicts with no access.
#![expect(unsafe_code, reason = "nodes by address")]

use super::FreeList;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

#[repr(C)]
pub(super) struct RawNode<T> {
    /// The next node's address, or 0, while the node is on a list or in a chain. The first field: a pop loads the word at the node's address.
    next: AtomicU64,
    /// The node made before it. Written before the node is shared, and read by the list's drop.
    pub(super) older: *mut RawNode<T>,
    object: T,
}

impl<T> RawNode<T> {
    pub(super) fn new(object: T) -> Self {
        Self {
            next: AtomicU64::new(0),
            older: ptr::null_mut(),
            object,
        }
    }

    /// The node at this exposed address; `None` for 0.
    #[inline(always)]
    pub(super) fn at(address: u64) -> Option<NonNull<Self>> {
        NonNull::new(ptr::with_exposed_provenance_mut(address as usize))
    }

    #[inline(always)]
    fn link<'a>(item: NonNull<Self>) -> &'a AtomicU64 {
        // SAFETY: the first field of a node, which callers vouch is mapped (Invariant 2 of the list).
        unsafe { item.cast::<AtomicU64>().as_ref() }
    }

    /// The next node's address.
    ///
    /// # Safety
    /// A node of a list that lives.
    #[inline(always)]
    pub(super) unsafe fn next(item: NonNull<Self>) -> u64 {
        // Relaxed: the caller holds the node or the slot, and acquired it in an ordered way.
        Self::link(item).load(Ordering::Relaxed)
    }

    /// Sets that.
    ///
    /// # Safety
    /// As for [`next`](Self::next), and the caller holds the node.
    #[inline(always)]
    pub(super) unsafe fn set_next(item: NonNull<Self>, address: u64) {
        // Relaxed: published by the store that puts the node on a list.
        Self::link(item).store(address, Ordering::Relaxed);
    }
}

/// A held object. Its drop pushes it.
#[must_use = "it is pushed again when this is dropped"]
pub struct Node<'a, T> {
    list: &'a FreeList<T>,
    item: NonNull<RawNode<T>>,
}

// SAFETY: the object is sent with it, and threads share the list.
unsafe impl<T: Send> Send for Node<'_, T> {}
// SAFETY: by reference it shares the object.
unsafe impl<T: Send + Sync> Sync for Node<'_, T> {}

impl<'a, T> Node<'a, T> {
    /// # Safety
    /// A node of this list that has no holder and is on no list.
    #[inline(always)]
    pub(super) unsafe fn held(list: &'a FreeList<T>, item: NonNull<RawNode<T>>) -> Self {
        Self { list, item }
    }

    /// Pushes it to the current CPU's list. The same as its drop.
    #[inline(always)]
    pub fn push(self) {
        drop(self);
    }

    pub(super) fn list(&self) -> &'a FreeList<T> {
        self.list
    }

    /// The node, held by the caller from now on.
    pub(super) fn into_raw(self) -> NonNull<RawNode<T>> {
        ManuallyDrop::new(self).item
    }
}

impl<T> Deref for Node<'_, T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the object of a held node, mapped while the list is borrowed (Invariants 1 and 2 of the list).
        unsafe { &(*self.item.as_ptr()).object }
    }
}

impl<T> DerefMut for Node<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the object of a held node, borrowed exclusively (Invariant 1 of the list).
        unsafe { &mut (*self.item.as_ptr()).object }
    }
}

impl<T> Drop for Node<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: a held node of this list, given up.
        unsafe { self.list.put(self.item, self.item) };
    }
}

impl<T: fmt::Debug> fmt::Debug for Node<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&**self).finish()
    }
}
