//! Closures that wait for a grace period, in batches.
//!
//! # States
//! A closure is *fresh* until a batch takes it; the batch *waits* for its grace period, and is then run, in the order in which its
//! closures came. One batch waits or runs at a time, so batches are in order too.
//!
//! # Invariants
//! 1. The lists are changed by single atomic operations, so a child of fork has each closure once, or not at all: those of a batch that another
//!    thread was about to run are the parent's alone.
//! 2. `busy` holds the generation of the process whose thread runs a batch. In a child of fork an older one is nobody's: whoever takes it
//!    counts again what waits.
//! 3. Nothing is run or waited for inside a section, nor inside a closure: a thread would wait for itself.
//!
//! # Safety
//! 1. A node belongs to the thread that made it until it is pushed, and then to the one that swaps it out of a list.
#![expect(unsafe_code, reason = "nodes of a list, each owned by who takes it")]

use super::node::{self, Node};
use super::record;
use super::stall::Wait;
use crate::error::Refusal;
use crate::primitive::unpatched::AtomicU64;
use crate::sys::{fork_generation, thread};
use core::cell::Cell;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicIsize, AtomicPtr};
use std::thread_local;

/// Closures in a batch, at least: one barrier of the kernel for as many.
pub(super) const BATCH: usize = 64;
/// Closures that may wait. A writer that adds more waits itself.
pub(super) const LIMIT: usize = 4096;

thread_local! {
    static IN_CLOSURE: Cell<bool> = const { Cell::new(false) };
}

/// What a queue waits for.
pub(super) trait Periods {
    /// Begins a grace period.
    ///
    /// # Errors
    /// No heavy fence can be made: see [`try_heavy`](crate::fence::try_heavy).
    fn begin(&self) -> Result<u64, Refusal>;
    /// Whether it is over; if not, has the calling thread wait a little.
    fn is_over(&self, period: u64, wait: Option<&mut Wait>) -> bool;
    /// Whether the calling thread is in a section; then something else may ask for help when it ends.
    fn is_inside(&self) -> bool;
}

/// Closures of one kind of grace period.
#[derive(Debug)]
pub(super) struct Queue {
    fresh: AtomicPtr<Node>,
    waiting: AtomicPtr<Node>,
    /// Of the waiting batch, or [`NOT_BEGUN`].
    period: AtomicU64,
    busy: AtomicU64,
    /// Below 0 where another thread has run what its owner has not counted yet.
    pending: AtomicIsize,
}

/// There is no batch, or no heavy fence was made for it yet.
const NOT_BEGUN: u64 = 0;

/// A queue and its periods.
#[derive(Clone, Copy)]
pub(super) struct Deferred<'a, P> {
    pub(super) queue: &'a Queue,
    pub(super) periods: P,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self {
            fresh: AtomicPtr::new(null_mut()),
            waiting: AtomicPtr::new(null_mut()),
            period: AtomicU64::new(NOT_BEGUN),
            busy: AtomicU64::new(0),
            pending: AtomicIsize::new(0),
        }
    }

    pub(super) fn pending(&self) -> usize {
        usize::try_from(self.pending.load(Relaxed)).unwrap_or(0)
    }

    /// Appends a closure; returns how many wait now.
    fn push(&self, node: *mut Node) -> usize {
        let mut head = self.fresh.load(Relaxed);
        loop {
            // SAFETY: the caller's node, which nobody else has yet.
            unsafe { (*node).next = head };
            // Release: pairs with the Acquire of `advance`.
            match self.fresh.compare_exchange(head, node, Release, Relaxed) {
                Ok(_) => break,
                Err(now) => head = now,
            }
        }
        let now = self.pending.fetch_add(1, Relaxed) + 1;
        usize::try_from(now).unwrap_or(0)
    }

    /// Counts what waits, of a queue whose work is the caller's, so that no other thread takes nodes out of its lists. Closures that others
    /// append meanwhile may be counted twice or not at all.
    #[cold]
    fn count_again(&self) {
        // Acquire: pairs with the Release in `push`.
        let count = [&self.waiting, &self.fresh].map(|list| node::count(list.load(Acquire)));
        self.pending.store((count[0] + count[1]).cast_signed(), Relaxed);
    }

    /// Runs what is left, of a queue that nobody else uses and whose sections have ended.
    pub(super) fn run_all(&mut self) {
        for list in [&mut self.waiting, &mut self.fresh] {
            run(core::mem::replace(list.get_mut(), null_mut()));
        }
    }
}

impl<P: Periods> Deferred<'_, P> {
    /// Appends a closure, and helps where a batch is complete.
    pub(super) fn defer(&self, closure: impl FnOnce() + Send + 'static) {
        let node = node::boxed(closure);
        let pending = self.queue.push(node);
        if pending.is_multiple_of(BATCH) || pending > LIMIT {
            self.help();
        }
    }

    /// Does what is due: runs a batch whose grace period is over, and begins one for the next. Waits where too many closures wait.
    pub(super) fn help(&self) {
        if IN_CLOSURE.get() || self.periods.is_inside() {
            return;
        }
        let mut wait = Wait::new();
        // Without a heavy fence nothing gets due.
        while self.advance(None).is_ok() && self.queue.pending() > LIMIT {
            if self.advance(Some(&mut wait)).is_err() {
                return;
            }
        }
    }

    /// Waits until every closure that was appended before has run.
    ///
    /// # Panics
    /// In a section and in a closure: the thread would wait for itself. Where no heavy fence can be made.
    pub(super) fn barrier(&self) {
        assert!(
            !IN_CLOSURE.get(),
            "rcu: a barrier in a deferred closure would wait for itself"
        );
        assert!(
            !self.periods.is_inside(),
            "rcu: a barrier in a section of reads would wait for itself"
        );
        let done = std::sync::Arc::new(AtomicU64::new(0));
        let here = std::sync::Arc::clone(&done);
        // Release: pairs with the Acquire below; batches and their closures run in order.
        let node = node::boxed(move || here.store(1, Release));
        self.queue.push(node);
        let mut wait = Wait::new();
        while done.load(Acquire) == 0 {
            if let Err(refusal) = self.advance(Some(&mut wait)) {
                panic!("rcu: no grace period: {refusal}");
            }
        }
    }

    /// One step of the queue's work, if no other thread makes one.
    fn advance(&self, mut wait: Option<&mut Wait>) -> Result<(), Refusal> {
        record::settle();
        let Some(busy) = Busy::take(&self.queue.busy) else {
            if wait.is_some() {
                // Another thread runs closures.
                thread::nap();
            }
            return Ok(());
        };
        let queue = self.queue;
        if busy.is_inherited {
            queue.count_again();
        }
        // Relaxed, here and below: `busy` orders them.
        let period = queue.period.load(Relaxed);
        if period != NOT_BEGUN {
            if !self.periods.is_over(period, wait.as_deref_mut()) {
                return Ok(());
            }
            // A period of its own for what the next batch waits for.
            if let Some(wait) = wait {
                *wait = Wait::new();
            }
            queue.period.store(NOT_BEGUN, Relaxed);
            let ran = run(queue.waiting.swap(null_mut(), Relaxed));
            if !busy.is_held() {
                return Ok(());
            }
            queue.pending.fetch_sub(ran, Relaxed);
        }
        if queue.waiting.load(Relaxed).is_null() {
            // Acquire: pairs with the Release in `push`.
            queue.waiting.store(queue.fresh.swap(null_mut(), Acquire), Relaxed);
        }
        if !queue.waiting.load(Relaxed).is_null() {
            // After an error the batch stays, so that closures remain in order.
            queue.period.store(self.periods.begin()?, Relaxed);
        }
        Ok(())
    }
}

/// Runs a list's closures in the order in which they came; returns how many.
fn run(newest: *mut Node) -> isize {
    let before = IN_CLOSURE.replace(true);
    let mut count = 0;
    let mut next = node::reversed(newest);
    while !next.is_null() {
        next = node::run(next);
        count += 1;
    }
    IN_CLOSURE.set(before);
    count
}

/// The queue's work is this thread's, until this is dropped, or a closure forks: in the child any thread may take it then.
struct Busy<'a> {
    word: &'a AtomicU64,
    generation: u64,
    /// A thread of an ancestor's had it at the fork.
    is_inherited: bool,
}

impl<'a> Busy<'a> {
    fn take(word: &'a AtomicU64) -> Option<Self> {
        let me = u64::from(fork_generation::current());
        let found = word.load(Relaxed);
        // AcqRel: pairs with the Release of the drop.
        let taken = found != me && !IN_CLOSURE.get() && word.compare_exchange(found, me, AcqRel, Relaxed).is_ok();
        // Lazily: dropping a `Self` that was not taken would release another thread's.
        taken.then(|| Self {
            word,
            generation: me,
            is_inherited: found != 0,
        })
    }

    fn is_held(&self) -> bool {
        self.generation == u64::from(fork_generation::current())
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if self.is_held() {
            self.word.store(0, Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_take_of_the_queue_releases_nothing() {
        let word = AtomicU64::new(0);
        let busy = Busy::take(&word).unwrap();
        assert!(Busy::take(&word).is_none() && Busy::take(&word).is_none());
        drop(busy);
        assert!(Busy::take(&word).is_some());
    }
}
