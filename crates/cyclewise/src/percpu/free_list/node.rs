//! A node, and [`Node`], which holds one.
//!
//! # Safety
//! 1. Sequences and the list's functions touch `next` alone, and that as an atomic; the object is its holder's. So a
//!    reference to the object is never in anybody's way.
#![expect(unsafe_code, reason = "nodes by address")]

use super::FreeList;
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicU64, Ordering};

/// A node.
#[repr(C)]
pub(super) struct RawNode<T> {
    /// The next node's address, or 0, while it is on a list or in a chain. First: a pop loads the word at the node's address.
    next: AtomicU64,
    /// The node that was made before it. Written before it is shared, and read by the list's drop.
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

    /// The node with this address, which was exposed; `None` for 0.
    #[inline(always)]
    pub(super) fn at(address: u64) -> Option<NonNull<Self>> {
        NonNull::new(ptr::with_exposed_provenance_mut(address as usize))
    }

    #[inline(always)]
    fn link<'a>(item: NonNull<Self>) -> &'a AtomicU64 {
        // SAFETY: the first field of a node, which callers vouch is there (Invariant 2 of the list).
        unsafe { item.cast::<AtomicU64>().as_ref() }
    }

    /// The next node's address.
    ///
    /// # Safety
    /// A node of a list that lives.
    #[inline(always)]
    pub(super) unsafe fn next(item: NonNull<Self>) -> u64 {
        // Relaxed: who may look at it holds the list, and what brought that about orders it.
        Self::link(item).load(Ordering::Relaxed)
    }

    /// Sets that.
    ///
    /// # Safety
    /// As of [`next`](Self::next), and the caller holds the node.
    #[inline(always)]
    pub(super) unsafe fn set_next(item: NonNull<Self>, address: u64) {
        // Relaxed: seen by way of the store that puts it on a list.
        Self::link(item).store(address, Ordering::Relaxed);
    }
}

/// An object that is held. Its drop pushes it.
#[must_use = "it is pushed again when this is dropped"]
pub struct Node<'a, T> {
    list: &'a FreeList<T>,
    item: NonNull<RawNode<T>>,
}

// SAFETY: the object goes with it, and the list is one that threads share.
unsafe impl<T: Send> Send for Node<'_, T> {}
// SAFETY: by reference it shares the object.
unsafe impl<T: Send + Sync> Sync for Node<'_, T> {}

impl<'a, T> Node<'a, T> {
    /// # Safety
    /// A node of this list that nobody else holds and that is on no list.
    #[inline(always)]
    pub(super) unsafe fn held(list: &'a FreeList<T>, item: NonNull<RawNode<T>>) -> Self {
        Self { list, item }
    }

    /// Puts it on the list of the CPU that the thread is on. The same as its drop.
    #[inline(always)]
    pub fn push(self) {
        drop(self);
    }

    /// Whose it is.
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
        // SAFETY: the object of a node that is held, for as long as the list is borrowed (Invariant 1 of the list).
        unsafe { &(*self.item.as_ptr()).object }
    }
}

impl<T> DerefMut for Node<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the object of a node that is held, for as long as the list is borrowed, and by `&mut` by nobody
        // else (Invariant 1 of the list).
        unsafe { &mut (*self.item.as_ptr()).object }
    }
}

impl<T> Drop for Node<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: held, of this list, and given up.
        unsafe { self.list.put(self.item, self.item) };
    }
}

impl<T: fmt::Debug> fmt::Debug for Node<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Node").field(&**self).finish()
    }
}
