//! [`FreeList`]: reusable objects, on a list for each CPU.
//!
//! # States
//! A node is *held* by a [`Node`] or a [`Chain`], or it is on the list of one slot. A slot has two words: the address of the first
//! node, or 0, and a guard.
//!
//! # Invariants
//! 1. Only its holder accesses a held node: a pop takes it off its list in one store, and a push writes its
//!    `next` before the store that publishes it.
//! 2. A node stays mapped, at its address and with its type, until the list is dropped; a holder borrows the list.
//! 3. A slot's words are changed by sequences that check its guard, under a portable slot's lock, or by the thread that has stopped
//!    the slot. A portable slot's guard is never set: its lock protects its list.
//! 4. A list ends in 0, and no node is on two lists.
//!
//! # Why a pop is safe
//! It loads the first node's address, then that node's `next`, then stores that as the first. On a shared list the node may
//! be popped and pushed again between the load and the store (ABA), or freed. Here all three are one sequence on one CPU. If another
//! thread or a signal handler runs on this CPU in between, or if the thread is
//! migrated, the sequence restarts. A thread on another CPU changes the list only after it has set the guard and the kernel has restarted the
//! sequences of this CPU. So the list does not change between the load and the store. A push is one sequence too: it loads the
//! first node's address, stores it in its own node, and then stores its node's address as the first.
//!
//! # Signals, forks, threads
//! - A signal handler must not call [`steal`](FreeList::steal), [`pop_or_steal`](FreeList::pop_or_steal) and
//!   [`drain`](FreeList::drain), which may wait for the thread that it interrupted, or `grow`, which allocates.
//! - A child of a fork has all nodes that were on lists, but cannot reach those that other threads of the parent held. A slot that
//!   was being stolen from at the fork stays stopped: its own threads use portable slots, and its nodes are dropped with the list.
//!
//! # Cost
//! A push and a pop are a sequence each, without LOCK; a steal interrupts the other CPU.
//!
//! # References
//! librseq's list of buffers per CPU, tests/basic_percpu_ops_test.c; Linux mm/slub.c, whose per-CPU list has the same order.
//!
//! # Safety
//! 1. `heads` maps both words in every slot until the list is dropped.
#![expect(unsafe_code, reason = "words and nodes by address")]

mod chain;
mod node;
mod steal;

pub use chain::Chain;
pub use node::Node;

use super::guard::Guard;
use super::registration::{self, RseqArea};
use super::slots::{LockedSlot, Slot};
use super::variable::{PerCpu, or_end};
use super::word::Bits;
use crate::arch::rseq::free_list;
use crate::arch::{Cpu, Outcome, STOPPED};
use crate::error::Refusal;
use alloc::alloc::{alloc, handle_alloc_error};
use alloc::boxed::Box;
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, Ordering};
use node::RawNode;

/// Objects of one type, held or on the list of a slot. The list keeps their contents, and drops them when it is dropped.
///
/// # Examples
/// ```
/// use cyclewise::percpu::FreeList;
///
/// let buffers = FreeList::<[u8; 64]>::new();
/// // One of this CPU's list, or a new one where that is empty.
/// let buffer = buffers.pop().unwrap_or_else(|| buffers.grow([0; 64]));
/// assert_eq!(buffer.len(), 64);
/// buffer.push();
/// ```
pub struct FreeList<T> {
    heads: PerCpu<[u64; 2]>,
    /// All nodes, newest first.
    all: AtomicPtr<RawNode<T>>,
    objects: PhantomData<T>,
}

// SAFETY: its objects are sent with it.
unsafe impl<T: Send> Send for FreeList<T> {}
// SAFETY: by reference it moves objects between threads, and shares none.
unsafe impl<T: Send> Sync for FreeList<T> {}

impl<T> FreeList<T> {
    /// An empty list. Without address space, it calls the handler of allocation errors, as `Box::new` does.
    pub fn new() -> Self {
        or_end(Self::try_new(), Layout::new::<[u64; 2]>(), "a free list")
    }

    /// An empty list.
    ///
    /// # Errors
    /// As of [`PerCpu::try_new`].
    pub fn try_new() -> Result<Self, Refusal> {
        Ok(Self {
            heads: PerCpu::try_new()?,
            all: AtomicPtr::new(ptr::null_mut()),
            objects: PhantomData,
        })
    }

    /// Adds an object, held by the caller.
    pub fn grow(&self, object: T) -> Node<'_, T> {
        self.try_grow(object)
            .unwrap_or_else(|| handle_alloc_error(Layout::new::<RawNode<T>>()))
    }

    /// Adds an object, held by the caller. `None` without memory; the object is dropped then.
    pub fn try_grow(&self, object: T) -> Option<Node<'_, T>> {
        // SAFETY: a node is not of size 0.
        let item = NonNull::new(unsafe { alloc(Layout::new::<RawNode<T>>()) })?.cast::<RawNode<T>>();
        let new = item.as_ptr();
        // SAFETY: new memory for a node.
        unsafe { new.write(RawNode::new(object)) };
        let mut newest = self.all.load(Ordering::Relaxed);
        loop {
            // SAFETY: made above, and not shared yet.
            unsafe { (*new).older = newest };
            // Release: its only reader, the drop, has exclusive access. Nodes are never removed, so there is no ABA.
            match self
                .all
                .compare_exchange_weak(newest, new, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break,
                Err(found) => newest = found,
            }
        }
        // SAFETY: a new node of this list.
        Some(unsafe { Node::held(self, item) })
    }

    /// Pops the last object pushed on this CPU; `None` if its list is empty.
    ///
    /// Ordering: it sees what happened before the push.
    #[inline(always)]
    pub fn pop(&self) -> Option<Node<'_, T>> {
        if let Some(area) = registration::libc_area::<Cpu>() {
            // SAFETY: the area is the thread's; nodes are mapped and begin with `next` (Invariants 2 and 3).
            let popped = unsafe { free_list::list_pop::<Cpu>(area, self.heads.as_ptr().cast()) };
            if popped > STOPPED {
                // SAFETY: just popped, so it has no other holder (Invariant 1).
                return unsafe { self.held(popped) };
            }
            if popped == 0 {
                return None;
            }
        }
        self.pop_slow()
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's list.
    #[cold]
    #[inline(never)]
    fn pop_slow(&self) -> Option<Node<'_, T>> {
        let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() else {
            return self.pop_portable();
        };
        // SAFETY: the area is the thread's; nodes are mapped and begin with `next` (Invariants 2 and 3).
        match unsafe { free_list::list_pop::<Cpu>(area, self.heads.as_ptr().cast()) } {
            STOPPED => self.pop_portable(),
            // SAFETY: 0, or just popped, so it has no other holder (Invariant 1).
            popped => unsafe { self.held(popped) },
        }
    }

    /// Pushes a run of nodes to this CPU's list.
    ///
    /// # Safety
    /// The caller holds the nodes, which belong to this list, and gives them up. Each but the last links to the next.
    #[inline(always)]
    unsafe fn put(&self, first: NonNull<RawNode<T>>, last: NonNull<RawNode<T>>) {
        let address = first.as_ptr().expose_provenance() as u64;
        if let Some(area) = registration::libc_area::<Cpu>() {
            let (lists, link) = (self.heads.as_ptr().cast(), last.as_ptr().cast());
            // SAFETY: the area is the thread's; the caller vouches for the nodes, which begin with `next` (Invariant 3).
            if unsafe { free_list::list_push::<Cpu>(area, lists, address, link) } == Outcome::Done {
                return;
            }
        }
        // SAFETY: the caller vouches for the nodes, and gives them up.
        unsafe { self.put_slow(address, last) }
    }

    /// For threads that the C library has not registered, and while another thread has stopped this CPU's list.
    #[cold]
    #[inline(never)]
    unsafe fn put_slow(&self, first: u64, last: NonNull<RawNode<T>>) {
        if let Some(RseqArea::Cpu(area)) = registration::thread_area::<Cpu>() {
            let (lists, link) = (self.heads.as_ptr().cast(), last.as_ptr().cast());
            // SAFETY: the area is the thread's; the caller vouches for the nodes, which begin with `next` (Invariant
            // 3).
            if unsafe { free_list::list_push::<Cpu>(area, lists, first, link) } == Outcome::Done {
                return;
            }
        }
        // SAFETY: the caller vouches for the nodes, and gives them up.
        unsafe { self.put_portable(first, last) }
    }

    /// Pushes to a portable slot.
    unsafe fn put_portable(&self, first: u64, last: NonNull<RawNode<T>>) {
        let locked = LockedSlot::any();
        let head = self.heads.slot_ptr(locked.slot()).cast::<u64>();
        // SAFETY: no other thread changes the word while the slot is locked (Invariant 3).
        let found = unsafe { u64::load(head) };
        // SAFETY: the last of the nodes that the caller holds and gives up.
        unsafe { RawNode::set_next(last, found) };
        // SAFETY: the same word, while the slot is locked (Invariant 3).
        unsafe { u64::store(head, first) };
    }

    fn pop_portable(&self) -> Option<Node<'_, T>> {
        let locked = LockedSlot::any();
        let head = self.heads.slot_ptr(locked.slot()).cast::<u64>();
        // SAFETY: no other thread changes the word while the slot is locked (Invariant 3).
        let found = unsafe { u64::load(head) };
        let first = RawNode::<T>::at(found)?;
        // SAFETY: a node of this list (Invariant 2).
        let next = unsafe { RawNode::next(first) };
        // SAFETY: the same word, while the slot is locked (Invariant 3).
        unsafe { u64::store(head, next) };
        // SAFETY: just popped.
        Some(unsafe { Node::held(self, first) })
    }

    #[inline(always)]
    fn guard(&self, slot: Slot) -> &Guard {
        let at = self.heads.slot_ptr(slot).cast::<Guard>().wrapping_add(1);
        // SAFETY: the second word of the slot, accessed only as a guard (Safety 1).
        unsafe { &*at }
    }

    /// A node by its address.
    ///
    /// # Safety
    /// 0, or a node of this list that the caller holds.
    #[inline(always)]
    unsafe fn held(&self, address: u64) -> Option<Node<'_, T>> {
        // SAFETY: the caller vouches that it is a node of this list that it holds.
        RawNode::at(address).map(|item| unsafe { Node::held(self, item) })
    }
}

impl<T> FreeList<T> {
    fn drop_all(&mut self) {
        let newest = self.all.get_mut();
        while let Some(item) = NonNull::new(*newest) {
            // SAFETY: `grow` made it of a box and linked it once, and it has no holder: that would borrow the list.
            let item = unsafe { Box::from_raw(item.as_ptr()) };
            // Unlinked before the object's drop, which may panic.
            *newest = item.older;
        }
    }
}

impl<T> Drop for FreeList<T> {
    fn drop(&mut self) {
        /// Drops the remaining objects if an object's drop panics.
        struct Rest<'a, T>(&'a mut FreeList<T>);
        impl<T> Drop for Rest<'_, T> {
            fn drop(&mut self) {
                self.0.drop_all();
            }
        }
        Rest(self).0.drop_all();
    }
}

impl<T> Default for FreeList<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for FreeList<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FreeList").finish_non_exhaustive()
    }
}
