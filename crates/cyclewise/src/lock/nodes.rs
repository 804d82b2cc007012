//! The waiters' nodes: a table of slots for the whole program, claimed by waiters while they wait.
//!
//! A word of 4 bytes cannot hold a pointer, and a node on a waiter's stack could not outlive a timeout. A place in a static
//! table fits in 16 bits, and a waiter that gives up leaves its slot behind in the queue for whoever comes by.
//!
//! # States
//! Of a slot, in its first word:
//!
//! | state | whose it is, and what is going on |
//! |---|---|
//! | [`FREE`] | nobody's |
//! | [`WAITING`] | its waiter's, who is in the queue behind another, awake |
//! | [`PARKED`] | the same, asleep or about to be |
//! | [`HEAD`] | its waiter's, who is first in the queue |
//! | [`ASLEEP`] | the same, asleep or about to be |
//! | [`GONE`] | its waiter has given up; whoever makes it the head frees it |
//!
//! # Invariants
//! 1. A slot is claimed by the change from `FREE`, and by one waiter at a time. Slots are never unmapped: a wake-up that
//!    comes late finds another waiter, who looks again, or nobody.
//! 2. A slot in a queue is freed once, by the one who has both its headship and its successor, or knows that there is none:
//!    [`QueueNode::link`] is exchanged by the waiter behind (its place) and by the one who leaves (the mark [`PASSED`]), and
//!    the second of the two frees.
//!
//! # Signals and fork
//! A handler that waits claims a slot of its own. A child of fork inherits slots of threads that it does not have, and
//! they stay claimed there. A slot holds its process's generation and its lock's address, so that a waiter which finds such
//! a one before it knows that the headship will not come from there. What the child sees of its parent's queues is not
//! of one moment, so a tail may also lead to a slot that was free and is the child's own by now.

use super::lock_word::NO_TAIL;
use crate::primitive::{AtomicU16, AtomicU32, AtomicUsize, array, const_fn, global, store};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// See the module's notes.
pub(super) const FREE: u32 = 0;
pub(super) const WAITING: u32 = 1;
pub(super) const PARKED: u32 = 2;
pub(super) const HEAD: u32 = 3;
pub(super) const ASLEEP: u32 = 4;
pub(super) const GONE: u32 = 5;

/// In [`QueueNode::link`]: the headship was passed to whoever comes behind. No place, since there are fewer.
pub(super) const PASSED: u16 = u16::MAX;

/// Slots of the program: 256 KiB of address space, of which the kernel maps the pages that are used. Where so many wait
/// at once that a search finds none, the wait goes on outside the queue (`outside`).
pub(super) const COUNT: usize = if cfg!(loom) { 4 } else { 4096 };

/// How many slots a search looks at: a line each.
const SEARCH: usize = if COUNT < 64 { COUNT } else { 64 };

/// A place in the table, from 1 on: what a tail and a link hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NodeIndex(u16);

impl NodeIndex {
    /// As a tail or link holds it; none for [`NO_TAIL`].
    pub(super) fn of(tail: u16) -> Option<Self> {
        (tail != NO_TAIL).then_some(Self(tail))
    }

    /// What a tail or link holds.
    pub(super) fn number(self) -> u16 {
        self.0
    }

    pub(super) fn node(self) -> &'static QueueNode {
        &nodes()[usize::from(self.0) - 1]
    }
}

/// A waiter's node. Two lines of the smaller CPUs would share one of the larger: 64 bytes, and a search skips ahead.
#[repr(align(64))]
pub(super) struct QueueNode {
    /// One of the states; what its waiter sleeps on.
    pub(super) state: AtomicU32,
    /// The waiter behind, [`NO_TAIL`] or [`PASSED`].
    link: AtomicU16,
    /// The process of its waiter: its generation, since a number is used again.
    process: AtomicU32,
    /// The lock that is waited for.
    pub(super) key: AtomicUsize,
}

impl QueueNode {
    const_fn! {
        fn new() -> Self {
            Self {
                state: AtomicU32::new(FREE),
                link: AtomicU16::new(NO_TAIL),
                process: AtomicU32::new(0),
                key: AtomicUsize::new(0),
            }
        }
    }

    /// Whether its waiter is in this process, where it has put itself into a queue or down as asleep.
    pub(super) fn is_ours(&self) -> bool {
        // Relaxed: written before the waiter could be found.
        self.process.load(Relaxed) == process()
    }

    /// Whether it is in the queue of the lock `key` in this process, where it is a tail's.
    pub(super) fn waits_for(&self, key: usize) -> bool {
        // Relaxed: written before the exchange of the tail that the caller has read.
        self.key.load(Relaxed) == key && self.is_ours()
    }

    /// Puts `behind` behind this one. `false`: the headship had been passed to whoever comes, so `behind` is the head
    /// and has to free this slot.
    pub(super) fn link(&self, behind: NodeIndex) -> bool {
        // AcqRel: pairs with the same in `pass`; the slot linked is ready, and what the one before did is seen.
        self.link.swap(behind.number(), AcqRel) != PASSED
    }

    /// Passes the headship on: to the waiter returned, or, with none, to whoever comes; the latter frees this slot.
    pub(super) fn pass(&self) -> Option<NodeIndex> {
        // AcqRel: pairs with the same in `link`.
        NodeIndex::of(self.link.swap(PASSED, AcqRel))
    }

    /// Gives the slot back.
    pub(super) fn free(&self) {
        // Release: pairs with the Acquire in `claim`.
        store!(self.state, FREE, Release);
    }
}

/// A slot for somebody who waits for the lock `key`, or none where the search found none.
pub(super) fn claim(key: usize) -> Option<NodeIndex> {
    let first = first();
    for step in 0..SEARCH {
        let at = (first + step) % COUNT;
        let slot = &nodes()[at];
        // Relaxed look first: a slot in use is somebody's line. Acquire: pairs with the Release in `free`.
        if slot.state.load(Relaxed) == FREE && slot.state.compare_exchange(FREE, WAITING, Acquire, Relaxed).is_ok() {
            // Relaxed: seen by others behind the exchange of the tail alone.
            slot.link.store(NO_TAIL, Relaxed);
            slot.process.store(process(), Relaxed);
            slot.key.store(key, Relaxed);
            return Some(NodeIndex(at as u16 + 1));
        }
    }
    None
}

#[cfg(all(target_os = "linux", not(loom)))]
use crate::sys::fork_generation::current as process;

/// One process is all there is.
#[cfg(not(all(target_os = "linux", not(loom))))]
fn process() -> u32 {
    0
}

/// Where a search begins: threads have stacks of their own, so the address of a local tells them apart, and keeps a
/// thread at the slot whose line it has.
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

/// Every slot that is free now.
#[cfg(all(test, not(loom)))]
pub(super) fn claim_all() -> std::vec::Vec<NodeIndex> {
    let claimed = |slot: &QueueNode| slot.state.compare_exchange(FREE, WAITING, Acquire, Relaxed).is_ok();
    (1..=COUNT as u16)
        .map(NodeIndex)
        .filter(|place| claimed(place.node()))
        .collect()
}

/// Slots that somebody has who waits for the lock `key`.
#[cfg(all(test, not(loom), panic = "unwind"))]
pub(super) fn in_use(key: usize) -> usize {
    let waits = |slot: &&QueueNode| slot.state.load(Relaxed) != FREE && slot.key.load(Relaxed) == key;
    nodes().iter().filter(waits).count()
}

/// As if its waiter had stayed behind in another process.
#[cfg(all(test, not(loom)))]
impl QueueNode {
    pub(super) fn leave_behind(&self) {
        self.process.store(!process(), Relaxed);
    }
}

/// Whether every slot has been given back.
#[cfg(all(test, loom))]
pub(super) fn all_free() -> bool {
    nodes().iter().all(|slot| slot.state.load(Relaxed) == FREE)
}
