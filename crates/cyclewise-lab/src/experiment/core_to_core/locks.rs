//! The textbook spinlocks, written as the simulator's programs are: their lines, accesses and orders of them.
//!
//! A lock of a library also backs off, sleeps, or packs its word, and its row would tell of that. These show what a line costs that is
//! waited for by loads (test-and-test-and-set, ticket) and one that is handed over (MCS).
//!
//! # Memory ordering
//! Taking a lock is an Acquire of what giving it back released; each access names its partner.
//!
//! # References
//! T. Anderson, "The performance of spin lock alternatives for shared-memory multiprocessors", 1990. J. Mellor-Crummey and M. Scott,
//! "Algorithms for scalable synchronization on shared-memory multiprocessors", 1991.

use std::hint::spin_loop;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize};

/// A lock for threads with numbers from 0.
pub(super) trait Lock: Sync {
    /// A lock for this many threads.
    fn new(threads: usize) -> Self;
    /// Runs `section` under the lock, as thread number `me`.
    fn section(&self, me: usize, section: impl FnOnce());
}

/// PAUSE or YIELD, where the row is of waiting with it.
#[inline(always)]
fn relax<const PAUSES: bool>() {
    if PAUSES {
        spin_loop();
    }
}

/// Test-and-test-and-set.
#[repr(align(128))]
pub(super) struct Ttas<const PAUSES: bool>(AtomicBool);

impl<const PAUSES: bool> Lock for Ttas<PAUSES> {
    fn new(_: usize) -> Self {
        Self(AtomicBool::new(false))
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        loop {
            // Relaxed: the exchange is what takes it.
            while self.0.load(Relaxed) {
                relax::<PAUSES>();
            }
            // Acquire: pairs with the Release below.
            if !self.0.swap(true, Acquire) {
                break;
            }
            relax::<PAUSES>();
        }
        section();
        // Release: pairs with the Acquire above.
        self.0.store(false, Release);
    }
}

/// The ticket lock; both numbers are in one line.
#[repr(align(128))]
pub(super) struct Ticket {
    next: AtomicU32,
    called: AtomicU32,
}

impl Lock for Ticket {
    fn new(_: usize) -> Self {
        Self {
            next: AtomicU32::new(0),
            called: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    fn section(&self, _: usize, section: impl FnOnce()) {
        // Relaxed: the number that is called is what is waited for.
        let ticket = self.next.fetch_add(1, Relaxed);
        // Acquire: pairs with the Release below.
        while self.called.load(Acquire) != ticket {
            relax::<false>();
        }
        section();
        // Release: pairs with the Acquire above. Only the holder stores it.
        self.called.store(ticket.wrapping_add(1), Release);
    }
}

/// No thread: MCS numbers them from 1.
const NOBODY: usize = 0;

/// A waiter's node.
#[derive(Default)]
#[repr(align(128))]
struct Node {
    next: AtomicUsize,
    handed_over: AtomicBool,
}

/// The word of the queue's end, alone in its lines.
#[repr(align(128))]
struct Tail(AtomicUsize);

/// The MCS lock.
pub(super) struct Mcs {
    tail: Tail,
    nodes: Box<[Node]>,
}

impl Lock for Mcs {
    fn new(threads: usize) -> Self {
        Self {
            tail: Tail(AtomicUsize::new(NOBODY)),
            nodes: (0..threads).map(|_| Node::default()).collect(),
        }
    }

    #[inline(always)]
    fn section(&self, me: usize, section: impl FnOnce()) {
        let (node, number) = (&self.nodes[me], me + 1);
        // Relaxed: published by the exchange.
        node.next.store(NOBODY, Relaxed);
        node.handed_over.store(false, Relaxed);
        // AcqRel: pairs with itself, in the threads before and after, and with the Release that empties the queue.
        let before = self.tail.0.swap(number, AcqRel);
        if before != NOBODY {
            // Release: pairs with the Acquires of `next` below.
            self.nodes[before - 1].next.store(number, Release);
            // Acquire: pairs with the Release of `handed_over` below.
            while !node.handed_over.load(Acquire) {
                relax::<false>();
            }
        }
        section();
        let mut next = node.next.load(Acquire);
        if next == NOBODY {
            // Release: pairs with the AcqRel above.
            if self.tail.0.compare_exchange(number, NOBODY, Release, Relaxed).is_ok() {
                return;
            }
            while next == NOBODY {
                next = node.next.load(Acquire);
            }
        }
        // Release: pairs with the Acquire above.
        self.nodes[next - 1].handed_over.store(true, Release);
    }
}
