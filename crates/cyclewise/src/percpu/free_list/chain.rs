//! [`Chain`]: several held nodes, popped and pushed together.
//!
//! # Invariants
//! 1. The chain holds the nodes from `first` on, each linked by the one before; the last link is 0.
//!
//! # Safety
//! 1. As for the list: nodes are mapped while it is borrowed, and a slot's words change as its Invariant 3 says.
#![expect(unsafe_code, reason = "nodes by address")]

use super::FreeList;
use super::node::{Node, RawNode};
use crate::arch::rseq::free_list;
use crate::arch::{Cpu, STOPPED};
use crate::percpu::registration::{self, RseqArea};
use crate::percpu::slots::{LockedSlot, Slot};
use crate::percpu::word::Bits;
use core::fmt;
use core::ptr::NonNull;

/// Several held nodes. Its drop pushes the remaining ones, all at once.
#[must_use = "they are pushed again when this is dropped"]
pub struct Chain<'a, T> {
    list: &'a FreeList<T>,
    first: Option<NonNull<RawNode<T>>>,
}

// SAFETY: as a `Node`.
unsafe impl<T: Send> Send for Chain<'_, T> {}

impl<T> FreeList<T> {
    /// Pops all nodes of this CPU's list, in one sequence.
    #[inline]
    pub fn pop_all(&self) -> Chain<'_, T> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's list (Invariant 3 of the list).
            let first = unsafe { free_list::list_take::<Cpu>(area, self.heads.as_ptr().cast()) };
            if first != STOPPED {
                // SAFETY: just popped.
                return unsafe { self.chain(first) };
            }
        }
        self.pop_all_slow()
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's list.
    #[cold]
    #[inline(never)]
    fn pop_all_slow(&self) -> Chain<'_, T> {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            // SAFETY: the area is the thread's; this CPU's list (Invariant 3 of the list).
            let first = unsafe { free_list::list_take::<Cpu>(area, self.heads.as_ptr().cast()) };
            if first != STOPPED {
                // SAFETY: just popped.
                return unsafe { self.chain(first) };
            }
        }
        let locked = LockedSlot::any();
        // SAFETY: the slot is locked.
        let first = unsafe { self.take_all(locked.slot()) };
        // SAFETY: just popped.
        unsafe { self.chain(first) }
    }

    /// Empties a slot's list; the address of its first node, or 0.
    ///
    /// # Safety
    /// The slot is locked or stopped.
    pub(super) unsafe fn take_all(&self, slot: Slot) -> u64 {
        let head = self.heads.slot_ptr(slot).cast::<u64>();
        // SAFETY: no other thread changes the word, as the caller vouches (Invariant 3 of the list).
        let first = unsafe { u64::load(head) };
        // SAFETY: the same word, and the slot is still locked or stopped.
        unsafe { u64::store(head, 0) };
        first
    }

    /// # Safety
    /// 0, or the first of a run of nodes of this list, ending in 0, that the caller holds.
    pub(super) unsafe fn chain(&self, first: u64) -> Chain<'_, T> {
        let first = RawNode::at(first);
        Chain { list: self, first }
    }
}

impl<'a, T> Chain<'a, T> {
    /// Adds a node at the front. A node of another list is pushed to that list instead.
    pub fn add(&mut self, node: Node<'a, T>) {
        if !core::ptr::eq(node.list(), self.list) {
            return node.push();
        }
        let item = node.into_raw();
        let next = self.first.map_or(0, |first| first.as_ptr().expose_provenance() as u64);
        // SAFETY: held, by the node until now.
        unsafe { RawNode::set_next(item, next) };
        self.first = Some(item);
    }

    /// Pushes all nodes, in one sequence after a walk to the last one. The same as its drop.
    pub fn push(self) {
        drop(self);
    }

    /// Whether it holds no nodes.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<'a, T> Iterator for Chain<'a, T> {
    type Item = Node<'a, T>;

    #[inline]
    fn next(&mut self) -> Option<Node<'a, T>> {
        let item = self.first?;
        // SAFETY: held by the chain (Invariant 1).
        self.first = RawNode::at(unsafe { RawNode::next(item) });
        // SAFETY: no longer in the chain, so it has no other holder.
        Some(unsafe { Node::held(self.list, item) })
    }
}

impl<T> Drop for Chain<'_, T> {
    fn drop(&mut self) {
        let Some(first) = self.first else { return };
        let mut last = first;
        // SAFETY: a node of the chain (Invariant 1), and so for the next.
        while let Some(next) = RawNode::at(unsafe { RawNode::next(last) }) {
            last = next;
        }
        // SAFETY: all are held by the chain, which gives them up.
        unsafe { self.list.put(first, last) };
    }
}

impl<T> fmt::Debug for Chain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("is_empty", &self.is_empty()).finish()
    }
}
