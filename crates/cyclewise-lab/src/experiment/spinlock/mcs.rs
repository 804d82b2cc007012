//! The plain MCS queue lock, for contrast: FIFO order, and waiters that spin until they get the lock.
//!
//! Nodes are numbered by thread and belong to the lock, which avoids pointers and leaves the algorithm's accesses the
//! same.
//!
//! # Memory ordering
//! Joining is `AcqRel` on the tail. A hand-over is the Release of a node's flag and the Acquire of the waiter that
//! spins on it; without a waiter, it is the Release that empties the tail and the Acquire of the next thread to join.
//!
//! # References
//! J. Mellor-Crummey and M. Scott, "Algorithms for scalable synchronization on shared-memory multiprocessors", 1991.

use super::locks::Lock;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// No thread. Threads are numbered from 1 on here.
const NOBODY: usize = 0;

/// A waiter's node; two cache lines, because lines are fetched in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Node {
    next: AtomicUsize,
    waits: AtomicBool,
}

/// The lock.
pub(super) struct Mcs {
    tail: AtomicUsize,
    nodes: Box<[Node]>,
}

impl Mcs {
    #[inline(always)]
    fn lock(&self, me: usize) {
        let node = &self.nodes[me - 1];
        // Relaxed: published by the swap.
        node.next.store(NOBODY, Relaxed);
        let before = self.tail.swap(me, AcqRel);
        if before != NOBODY {
            node.waits.store(true, Relaxed);
            // Release: pairs with the Acquire in `unlock`, so that the flag is set before it can be cleared.
            self.nodes[before - 1].next.store(me, Release);
            // Acquire: pairs with the Release in `unlock`.
            while node.waits.load(Acquire) {
                spin_loop();
            }
        }
    }

    #[inline(always)]
    fn unlock(&self, me: usize) {
        let node = &self.nodes[me - 1];
        // Acquire: pairs with the Release in `lock`.
        let mut next = node.next.load(Acquire);
        if next == NOBODY {
            // Release: pairs with the AcqRel in `lock`.
            if self.tail.compare_exchange(me, NOBODY, Release, Relaxed).is_ok() {
                return;
            }
            while next == NOBODY {
                spin_loop();
                next = node.next.load(Acquire);
            }
        }
        // Release: pairs with the Acquire in `lock`.
        self.nodes[next - 1].waits.store(false, Release);
    }
}

impl Lock for Mcs {
    const NAME: &str = "mcs";

    fn new(threads: usize) -> Self {
        Self {
            tail: AtomicUsize::new(NOBODY),
            nodes: (0..threads).map(|_| Node::default()).collect(),
        }
    }

    #[inline(always)]
    fn section(&self, thread: usize, section: impl FnOnce()) {
        self.lock(thread + 1);
        section();
        self.unlock(thread + 1);
    }
}
