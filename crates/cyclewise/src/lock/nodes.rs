//! The waiters' queue nodes: a static table for the whole program. A waiter claims a node while it waits.
//!
//! The tail's 2 bytes cannot hold a pointer, and a node on a waiter's stack could not outlive a timeout. An index into a static
//! table fits in 13 bits, and a waiter that gives up leaves its node in the queue for another to free.
//!
//! # States
//! A node's state is its first word:
//!
//! | state | owner and meaning |
//! |---|---|
//! | [`FREE`] | no owner |
//! | [`WAITING`] | its waiter, queued behind another, awake |
//! | [`PARKED`] | the same, asleep or about to be |
//! | [`HEAD`] | its waiter, first in the queue |
//! | [`ASLEEP`] | the same, asleep or about to be |
//! | [`GONE`] | its waiter has given up; the waiter that would make it the head frees it |
//!
//! # Invariants
//! 1. A node is claimed by the change from `FREE`, by one waiter at a time. Nodes are never unmapped: a late wake
//!    finds another waiter, which checks its state again, or none.
//! 2. A node in a queue is freed once, by the waiter that has both its headship and its successor, or knows that there is no successor:
//!    [`QueueNode::link`] is exchanged by the successor (for its index) and by the waiter that leaves (for [`PASSED`]), and
//!    the second of the two frees the node.
//!
//! # Signals and fork
//! A signal handler that waits claims a node of its own. In a child of fork the nodes of threads that it does not have
//! stay claimed. A node holds its process's generation and its lock's address, so a waiter that finds such
//! a node before it knows that the headship will not come from there.
//!
//! The child's copy of its parent's queues need not be a snapshot of one moment, so a tail may also name a node that is free in the child.
//! A thread of the child may claim this node for the same lock, and another thread may find the old tail before the first has become the
//! tail. If it believed the tail, each would queue behind the other. So a [`NodeIndex`] holds 3 bits of the generation that
//! claimed the node, and a tail that another process wrote is recognized whatever its node says. The bits repeat after
//! 8 generations, and are the parent's where fork copied the count of generations from before the parent's: such a tail is
//! judged by its node alone.

use super::lock_word::{LockWord, NO_TAIL};
use crate::primitive::{AtomicU16, AtomicU32, AtomicUsize, array, const_fn, global, store};
use crate::sys::fork_generation::{count, current as generation};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// See the module's notes.
pub(super) const FREE: u32 = 0;
pub(super) const WAITING: u32 = 1;
pub(super) const PARKED: u32 = 2;
pub(super) const HEAD: u32 = 3;
pub(super) const ASLEEP: u32 = 4;
pub(super) const GONE: u32 = 5;

/// In [`QueueNode::link`]: the headship waits for a successor. Not an index, since there are fewer nodes.
pub(super) const PASSED: u16 = u16::MAX;

/// Nodes of the program: 256 KiB of address space, of which the kernel maps the pages that are used. A waiter whose search
/// finds none waits without a node (`wait_without_node`).
pub(super) const COUNT: usize = if cfg!(loom) { 4 } else { 4096 };

/// How many nodes a search reads, each on its own cache line.
const SEARCH: usize = if COUNT < 64 { COUNT } else { 64 };

/// The low bits of a [`NodeIndex`], which hold the index; the bits above hold the generation.
const INDEX_BITS: u32 = 13;
const INDEX: u16 = (1 << INDEX_BITS) - 1;

// Below the largest, so that none is `PASSED`.
const _: () = assert!(COUNT < INDEX as usize);

/// A claimed node as a tail and a link hold it: its index in the table, from 1 on, and the low bits of its claimer's generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeIndex(u16);

impl NodeIndex {
    fn new(at: usize, generation: u32) -> Self {
        Self((count(generation) as u16) << INDEX_BITS | (at as u16 + 1))
    }

    /// The index in a tail or link; `None` for [`NO_TAIL`].
    pub(super) fn from_tail(tail: u16) -> Option<Self> {
        (tail != NO_TAIL).then_some(Self(tail))
    }

    /// The value for a tail or link.
    pub(super) fn number(self) -> u16 {
        self.0
    }

    pub(super) fn node(self) -> &'static QueueNode {
        &nodes()[usize::from(self.0 & INDEX) - 1]
    }

    /// Whether its waiter, which is queued or registered as asleep, is in this process.
    pub(super) fn is_ours(self) -> bool {
        let here = generation();
        // The node too: the bits of the generation repeat. Relaxed: written before the node could be found.
        self.0 >> INDEX_BITS == Self::new(0, here).0 >> INDEX_BITS && self.node().generation.load(Relaxed) == here
    }

    /// Whether its waiter, a tail, waits for the lock at `key` in this process.
    pub(super) fn waits_for(self, key: usize) -> bool {
        // Relaxed: written before the exchange of the tail that the caller has read.
        self.node().key.load(Relaxed) == key && self.is_ours()
    }
}

/// A waiter's node, 64 bytes: on CPUs with longer cache lines, two nodes share one.
#[repr(align(64))]
pub(super) struct QueueNode {
    /// One of the states. Its waiter sleeps on this word.
    pub(super) state: AtomicU32,
    /// The successor, [`NO_TAIL`] or [`PASSED`].
    link: AtomicU16,
    /// The fork generation of its waiter's process. Pids are reused.
    generation: AtomicU32,
    /// The address of the lock that its waiter waits for.
    pub(super) key: AtomicUsize,
}

impl QueueNode {
    const_fn! {
        fn new() -> Self {
            Self {
                state: AtomicU32::new(FREE),
                link: AtomicU16::new(NO_TAIL),
                generation: AtomicU32::new(0),
                key: AtomicUsize::new(0),
            }
        }
    }

    /// Makes `behind` the successor. `false`: the headship was waiting here, so `behind` is the head
    /// and has to free this node.
    pub(super) fn link(&self, behind: NodeIndex) -> bool {
        // AcqRel: pairs with the same in `pass`; publishes the successor's node, and acquires what the predecessor did.
        self.link.swap(behind.number(), AcqRel) != PASSED
    }

    /// Passes the headship on: to the successor, which is returned, or, with `None`, to a later one, which frees this node.
    pub(super) fn pass(&self) -> Option<NodeIndex> {
        // AcqRel: pairs with the same in `link`.
        NodeIndex::from_tail(self.link.swap(PASSED, AcqRel))
    }

    pub(super) fn free(&self) {
        // Release: pairs with the Acquire in `claim`.
        store!(self.state, FREE, Release);
    }
}

/// Claims a node for a waiter of the lock at `key`; `None` if the search finds none.
pub(super) fn claim(key: usize) -> Option<NodeIndex> {
    let first = first();
    (0..SEARCH).find_map(|step| claim_at((first + step) % COUNT, key))
}

#[inline]
fn claim_at(at: usize, key: usize) -> Option<NodeIndex> {
    let node = &nodes()[at];
    // A Relaxed load first, so that the line of a node in use is not taken away. Acquire: pairs with the Release in `free`.
    if node.state.load(Relaxed) != FREE || node.state.compare_exchange(FREE, WAITING, Acquire, Relaxed).is_err() {
        return None;
    }
    let here = generation();
    // Relaxed: published by the exchange of the tail.
    node.link.store(NO_TAIL, Relaxed);
    node.generation.store(here, Relaxed);
    node.key.store(key, Relaxed);
    Some(NodeIndex::new(at, here))
}

/// Where a search begins. The address of a local differs between threads, and returns a
/// thread to the node whose line it has.
fn first() -> usize {
    if cfg!(loom) {
        // The same for every thread, so that they meet.
        return 0;
    }
    let local = 0u8;
    let page = (&raw const local).addr() >> 12;
    // Fibonacci hashing: the high bits depend on all bits of the page's number.
    (((page as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)) >> (u64::BITS - COUNT.ilog2())) as usize
}

global! {
    fn nodes() -> &'static [QueueNode; COUNT] { array![QueueNode::new(); COUNT] }
}

/// Whether there was a queue at some moment of the call.
pub(super) fn is_queued<W: LockWord>(word: &W) -> bool {
    word.tail() != NO_TAIL
}

/// Whether its tail was a waiter of this process at some moment of the call.
pub(super) fn is_waited_for<W: LockWord>(word: &W) -> bool {
    NodeIndex::from_tail(word.tail()).is_some_and(|last| last.waits_for(word.address()))
}

#[cfg(test)]
#[allow(dead_code, reason = "models do some of it, and tests the rest")]
pub(super) mod for_tests {
    use super::*;

    /// Claims every node that is free now.
    pub(in super::super) fn claim_all() -> std::vec::Vec<NodeIndex> {
        let claimed = |node: &QueueNode| node.state.compare_exchange(FREE, WAITING, Acquire, Relaxed).is_ok();
        (1..=COUNT as u16)
            .map(NodeIndex)
            .filter(|index| claimed(index.node()))
            .collect()
    }

    /// The number of nodes that waiters of the lock at `key` have.
    pub(in super::super) fn in_use(key: usize) -> usize {
        let waits = |node: &&QueueNode| node.state.load(Relaxed) != FREE && node.key.load(Relaxed) == key;
        nodes().iter().filter(waits).count()
    }

    pub(in super::super) fn all_free() -> bool {
        nodes().iter().all(|node| node.state.load(Relaxed) == FREE)
    }

    impl QueueNode {
        /// Makes the node look like one that a fork left behind.
        pub(in super::super) fn leave_behind(&self) {
            self.generation.store(!generation(), Relaxed);
        }
    }

    impl NodeIndex {
        /// Claims this node if it is free.
        pub(in super::super) fn claim_again(self, key: usize) -> Option<Self> {
            claim_at(usize::from(self.0 & INDEX) - 1, key)
        }

        /// The node that every thread of a model searches first.
        pub(in super::super) fn first() -> Self {
            Self::new(0, generation())
        }

        /// The same node as this process names it: for a twin that does not look at the generation.
        pub(in super::super) fn of_this_process(self) -> Self {
            Self::new(usize::from(self.0 & INDEX) - 1, generation())
        }

        /// The same node as the process before this one named it in a tail.
        pub(in super::super) fn of_the_parent(self) -> Self {
            Self(self.0.wrapping_sub(1 << INDEX_BITS))
        }
    }
}
