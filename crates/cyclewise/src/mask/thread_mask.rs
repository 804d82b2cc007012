//! A thread's mask: the protocol between its mainline and its signal handlers.
//!
//! # States
//! - `depth` 0: open. `depth` n below [`HANDLER`]: held n times. `HANDLER` + n: a handler of ours runs, which holds n times. At
//!   [`STUCK`] held forever.
//! - `pending` 1: a signal is recorded in the ring, or blocked in the kernel.
//! - `blocked`: signals that the kernel keeps because the ring had no room.
//!
//! # Invariants
//! 1. A handler of ours runs in one of two places: in a signal frame, or in `replay`. In both `depth` is at least [`HANDLER`] and
//!    was 0 before. A release without a hold changes neither: it finds 0 or `HANDLER`.
//! 2. A frame leaves `depth` as it found it, so mainline may load it, be interrupted, and store what it computed. The
//!    same holds among frames: the kernel calls us with every maskable signal blocked, but a handler installed over
//!    ours calls us with the mask that it asked for.
//! 3. While `depth` is 0 and `pending` is 1, mainline is between its store of 0 and its test of `pending`, or before
//!    the store of 1 in `replay`. A signal that arrives there is recorded behind the rest, and the test or `replay`
//!    sees it.
//! 4. Release stores 0 first and tests second. A signal before the store is recorded, and the test follows it. A signal
//!    after the test finds nothing recorded and runs at once. There is no third case.
//! 5. The kernel blocks further signals before the ring is full ([`BLOCK_AT`]), so an arriving signal finds room, and
//!    order is kept: the ring first, then the kernel's queue. The remaining room is for signals that a foreign frame
//!    lets through, when its end restores its own mask.
//!    An environment that does not keep to a frame's mask (Valgrind) delivers a requeued signal again at once, before mainline can go on.
//!    So requeues are counted: past [`REQUEUES`] in one hold a signal for which there is no room is lost.
//! 6. A handler that ends with a larger `depth` than it began with kept a hold: no other handler runs until that hold is
//!    released.
//! 7. Nothing here depends on the stack. A frame may be on an alternate one, and a replay on that of whoever releases.
//!
//! # Memory ordering
//! Mainline and handler are one thread. A handler sees memory in its thread's program order: the processor makes an
//! interrupt precise, and the kernel's context switch carries memory to another processor. So only the compiler can
//! reorder, and compiler fences (C's `atomic_signal_fence`) prevent that. There is no processor fence and no LOCK;
//! loads and stores are plain, and as relaxed atomics they cannot tear.
//!
//! # Cost
//! Hold: a load, a branch, a store. Release: the same, plus a load and a branch. Constants are stored, not sums, so
//! that a hold does not wait for the store of the last release; nested holds pay for a sum.

use super::pending_ring::{CAPACITY, PendingRing};
use super::siginfo::Info;
use core::mem::offset_of;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

/// The depth saturates here, which only forgetting guards can reach. The thread stays held.
const STUCK: u32 = u32::MAX;
/// The depth while a handler of ours runs. Outside one only 2^30 guards at a time count so far; then the thread stays held.
const HANDLER: u32 = 1 << 30;
/// The number of records at which the kernel keeps further signals (Invariant 5).
pub(super) const BLOCK_AT: u32 = CAPACITY - 2;

/// Requeues in one hold. Each needs foreign code that unblocks the signal inside the hold, or an environment that does not keep to
/// masks (Invariant 5), which then takes some tens of milliseconds to show.
pub(super) const REQUEUES: u32 = 1000;

/// The environment of a thread's mask: the program's handlers and the kernel, or stand-ins in the models.
pub(super) trait Env {
    /// Runs the signal's handler.
    fn deliver(&self, info: &Info);
    /// Unblocks these signals in the kernel.
    fn unblock(&self, signals: u64);
    /// Requeues a delivered signal in the kernel. False if the kernel refuses.
    fn requeue(&self, info: &Info) -> bool;
    /// An injection point between any two accesses to the state. Empty except in the models.
    #[inline(always)]
    fn step(&self) {}
    /// The same in a frame that records, for frames that a foreign handler entered without blocking signals.
    #[inline(always)]
    fn step_in_frame(&self) {}
}

/// A thread's mask. All zeroes is an open mask with nothing recorded.
#[derive(Default)]
#[repr(C)]
pub(super) struct ThreadMask {
    depth: AtomicU32,
    pending: AtomicU32,
    blocked: AtomicU64,
    overflows: AtomicU64,
    lost: AtomicU64,
    /// The thread's kernel mask before it began to fork.
    pub(super) before_fork: AtomicU64,
    /// The thread's name as an owner, 0 until it has one: see [`fork`](super::fork).
    pub(super) name: AtomicU64,
    /// Fork handlers in progress.
    pub(super) forking: AtomicU32,
    /// Requeues since signals were last delivered.
    requeues: AtomicU32,
    ring: PendingRing,
}

// C programs hold and release by these two words (`cyclewise/mask.h`).
const _: () = assert!(offset_of!(ThreadMask, depth) == 0 && offset_of!(ThreadMask, pending) == 4);

#[cfg(test)]
impl ThreadMask {
    pub(super) fn forget_requeues(&self) {
        self.requeues.store(0, Relaxed);
    }

    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Relaxed);
    }
}

impl ThreadMask {
    #[inline(always)]
    pub(super) fn hold(&self, env: &impl Env) {
        // Relaxed, here and below: one thread (see Memory ordering).
        let depth = self.depth.load(Relaxed);
        env.step();
        if depth == 0 {
            self.depth.store(1, Relaxed);
        } else {
            self.hold_nested_slow(depth);
        }
        env.step();
        // Accesses under the hold stay after the store.
        compiler_fence(SeqCst);
    }

    /// Holds if the mask is open, and returns whether it was.
    #[inline(always)]
    pub(super) fn save(&self, env: &impl Env) -> bool {
        let open = self.depth.load(Relaxed) == 0;
        env.step();
        if open {
            self.depth.store(1, Relaxed);
        }
        env.step();
        compiler_fence(SeqCst);
        open
    }

    /// Removes a hold. The last one delivers the recorded signals.
    #[inline(always)]
    pub(super) fn release(&self, env: &impl Env) {
        // Accesses under the hold stay before the store.
        compiler_fence(SeqCst);
        let depth = self.depth.load(Relaxed);
        env.step();
        if depth != 1 {
            return self.release_nested_slow(depth);
        }
        self.depth.store(0, Relaxed);
        // The test stays after the store (Invariant 4).
        compiler_fence(SeqCst);
        env.step();
        if self.pending.load(Relaxed) != 0 {
            env.step();
            self.replay_slow(env);
        }
    }

    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.depth.load(Relaxed) != 0
    }

    /// Whether a signal waits for a release.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Relaxed) != 0
    }

    /// Signals that the kernel keeps because the ring had no room.
    pub(super) fn blocked(&self) -> u64 {
        self.blocked.load(Relaxed)
    }

    /// How often the kernel began to keep signals.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows.load(Relaxed)
    }

    /// Signals that the ring had no room for and the kernel did not requeue.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    // Not inlined: the compiler would merge both branches into one sum, which waits for the load.
    #[cold]
    #[inline(never)]
    fn hold_nested_slow(&self, depth: u32) {
        self.depth.store(depth.saturating_add(1), Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn release_nested_slow(&self, depth: u32) {
        // Without a hold there is nothing to release (Invariant 1).
        if !matches!(depth, 0 | HANDLER | STUCK) {
            self.depth.store(depth - 1, Relaxed);
        }
    }

    /// Delivers the recorded signals in order until none is left, and leaves the mask open.
    #[cold]
    #[inline(never)]
    fn replay_slow(&self, env: &impl Env) {
        loop {
            // Hold again: signals that arrive while handlers run are recorded behind the rest (Invariants 1 and 3).
            self.depth.store(HANDLER, Relaxed);
            compiler_fence(SeqCst);
            env.step();
            self.pending.store(0, Relaxed);
            self.requeues.store(0, Relaxed);
            compiler_fence(SeqCst);
            env.step();
            while let Some(info) = self.ring.pop(|| env.step()) {
                env.step();
                env.deliver(&info);
                if self.depth.load(Relaxed) != HANDLER {
                    return self.leave_kept_slow(env);
                }
            }
            // An exchange, because a frame may add to it meanwhile. Frames add only signals that are not blocked yet.
            let blocked = self.blocked.swap(0, Relaxed);
            env.step();
            if blocked != 0 {
                // The kernel delivers its queue into the ring; if that fills, signals are blocked again.
                env.unblock(blocked);
                continue;
            }
            compiler_fence(SeqCst);
            self.depth.store(0, Relaxed);
            compiler_fence(SeqCst);
            env.step();
            if self.pending.load(Relaxed) == 0 {
                return;
            }
            env.step();
        }
    }

    /// Ends a replay or a frame whose handler kept a hold (Invariant 6): the remaining records wait for its release.
    #[cold]
    fn leave_kept_slow(&self, env: &impl Env) {
        // The thread is held, so frames record, and each stores 1 itself.
        if self.ring.len() != 0 || self.blocked() != 0 {
            self.pending.store(1, Relaxed);
        }
        compiler_fence(SeqCst);
        env.step();
        let depth = self.depth.load(Relaxed);
        if depth != STUCK {
            self.depth.store(depth.saturating_sub(HANDLER), Relaxed);
        }
        env.step();
    }

    /// Handles a signal in its frame: runs its handler, or records it.
    ///
    /// `ours` is the set of signals with a handler of ours; `mask` is what will be blocked when the frame ends.
    pub(super) fn arrive(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        if self.depth.load(Relaxed) == 0 && self.pending.load(Relaxed) == 0 {
            env.step_in_frame();
            self.depth.store(HANDLER, Relaxed);
            compiler_fence(SeqCst);
            env.deliver(info);
            if self.depth.load(Relaxed) != HANDLER {
                return self.leave_kept_slow(env);
            }
            // Not just a store of 0: the handler may have unblocked signals.
            self.depth.store(1, Relaxed);
            return self.release(env);
        }
        self.record(info, ours, mask, env);
    }

    /// Records under a hold: a foreign handler may interrupt, hold and release, and must not replay half a record.
    fn record(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        let depth = self.depth.load(Relaxed);
        self.depth.store(depth.max(1), Relaxed);
        compiler_fence(SeqCst);
        self.record_held(info, ours, mask, env);
        compiler_fence(SeqCst);
        // Restored (Invariant 2).
        self.depth.store(depth, Relaxed);
    }

    fn record_held(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        env.step_in_frame();
        if info.is_standard() && self.ring.holds(info.signal()) {
            return; // Merged, as the kernel merges a signal that is already pending.
        }
        let mut keep = 0;
        if !self.ring.push(info, || env.step_in_frame()) {
            // Foreign code unblocked signals repeatedly in one hold. Requeueing puts this one behind others of its
            // number, but does not lose it. Relaxed: one thread; frames that interrupt this one may count one less.
            let requeues = self.requeues.load(Relaxed);
            self.requeues.store(requeues.saturating_add(1), Relaxed);
            if requeues >= REQUEUES || !env.requeue(info) {
                self.lost.fetch_add(1, Relaxed);
            }
            keep = info.bit();
        }
        if self.ring.len() >= BLOCK_AT {
            keep |= ours;
        }
        let fresh = keep & !*mask;
        env.step_in_frame();
        if fresh != 0 {
            *mask |= fresh;
            // Relaxed: only this thread accesses it. A read-modify-write, because other frames may interrupt.
            self.blocked.fetch_or(fresh, Relaxed);
            self.overflows.fetch_add(1, Relaxed);
        }
        env.step_in_frame();
        compiler_fence(SeqCst);
        self.pending.store(1, Relaxed);
        env.step_in_frame();
    }

    /// Drops the records, in a child of fork: they belong to the parent, like signals pending in the kernel. Signals
    /// are blocked.
    pub(super) fn forget(&self) {
        self.ring.clear();
        self.pending.store(u32::from(self.blocked() != 0), Relaxed);
    }
}
