//! A thread's mask: the protocol between its mainline and its signal handlers.
//!
//! # States
//! - `depth` 0: open. `depth` n: held n times; at [`STUCK`] for ever.
//! - `pending` 1: something is recorded in the ring, or blocked in the kernel.
//! - `blocked`: signals that the ring had no room for and that the kernel keeps instead.
//!
//! # Invariants
//! 1. A handler of ours runs in one of two places: in a frame, or in `replay`. In both `depth` is at least 1 and was 0
//!    before.
//! 2. A frame leaves `depth` as it found it, so mainline may load it, be interrupted, and store what it computed. The same
//!    goes for frames among themselves: in those that the kernel calls every signal is blocked that can be, but a handler
//!    that was installed over ours calls us with the mask that it asked for.
//! 3. While `depth` is 0 and `pending` is not, mainline stands between its store of 0 and its test of `pending`, or
//!    before the store of 1 in `replay`. What arrives there is recorded behind the rest, and the test or `replay` sees it.
//! 4. Release stores 0 first and tests second. Whatever arrives before the store is recorded, and the test comes after
//!    it; whatever arrives after the test finds nothing recorded and runs at once. There is no third place.
//! 5. The ring is blocked off in the kernel before it is full ([`BLOCK_AT`]), so what arrives finds room, and stays in
//!    the order it came in: ring first, then the kernel's queue. The room behind that is for those that another's frame
//!    lets through: its end puts its own mask back.
//! 6. `depth` counts the holds that live, and one for a frame or a `replay` that runs handlers. A handler that ends with
//!    more than it began with has kept a hold: no other runs until that is released.
//!
//! # Memory ordering
//! Mainline and handler are one thread. A handler sees memory as its thread's program order has it: the processor makes
//! an interrupt precise, and the kernel's context switch carries it to another processor. So only the compiler can
//! reorder, and compiler fences (C's `atomic_signal_fence`) stop it. No processor fence, no LOCK, and plain loads and stores,
//! which as relaxed atomics cannot tear.
//!
//! # Cost
//! Hold: a load, a branch, a store. Release: the same, and a load and a branch more. Stored are constants and no sums,
//! so that a hold does not wait for the last release's store to come back to it; what nests pays for a sum.

use super::pending_ring::{CAPACITY, PendingRing};
use super::siginfo::Info;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU32, AtomicU64, compiler_fence};

/// Held so often that it cannot be counted; only forgetting guards gets there. It stays held.
const STUCK: u32 = u32::MAX;
/// Records at which the kernel is asked to keep the rest (Invariant 5).
pub(super) const BLOCK_AT: u32 = CAPACITY - 2;

/// What a thread's mask needs from around it: the program's handlers and the kernel; in the models, stand-ins.
pub(super) trait Env {
    /// Runs the signal's handler.
    fn deliver(&self, info: &Info);
    /// Has the kernel deliver these signals again.
    fn unblock(&self, signals: u64);
    /// Has the kernel queue a signal again that was taken from it. False where it refuses.
    fn requeue(&self, info: &Info) -> bool;
    /// An injection point: between any two accesses to the state. Empty but in the models.
    #[inline(always)]
    fn step(&self) {}
    /// The same in a frame that records, for those that another's handler called without blocking anything.
    #[inline(always)]
    fn step_in_frame(&self) {}
}

/// The state of a thread. All zeroes is an open mask with nothing recorded.
#[repr(C)]
pub(super) struct ThreadMask {
    depth: AtomicU32,
    pending: AtomicU32,
    blocked: AtomicU64,
    overflows: AtomicU64,
    lost: AtomicU64,
    /// What the thread had blocked before it began to fork.
    pub(super) before_fork: AtomicU64,
    /// Fork handlers that have begun and not ended.
    pub(super) forking: AtomicU32,
    /// The process in which they began.
    pub(super) forking_process: AtomicU32,
    ring: PendingRing,
}

impl ThreadMask {
    #[cfg(test)]
    pub(super) fn new() -> Self {
        Self {
            depth: AtomicU32::new(0),
            pending: AtomicU32::new(0),
            blocked: AtomicU64::new(0),
            overflows: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            before_fork: AtomicU64::new(0),
            forking: AtomicU32::new(0),
            forking_process: AtomicU32::new(0),
            ring: PendingRing::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn set_depth(&self, depth: u32) {
        self.depth.store(depth, Relaxed);
    }

    /// One hold more.
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
        // What is done under the hold stays behind the store.
        compiler_fence(SeqCst);
    }

    /// Holds where it is open, and says whether it was.
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

    /// One hold less; where it was the last, what is recorded is delivered.
    #[inline(always)]
    pub(super) fn release(&self, env: &impl Env) {
        // What was done under the hold stays before the store.
        compiler_fence(SeqCst);
        let depth = self.depth.load(Relaxed);
        env.step();
        if depth != 1 {
            return self.release_nested_slow(depth);
        }
        self.depth.store(0, Relaxed);
        // The test stays behind the store (Invariant 4).
        compiler_fence(SeqCst);
        env.step();
        if self.pending.load(Relaxed) != 0 {
            env.step();
            self.replay_slow(env);
        }
    }

    /// Whether a hold is in force.
    #[inline]
    pub(super) fn is_held(&self) -> bool {
        self.depth.load(Relaxed) != 0
    }

    /// Whether something waits for a release.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.load(Relaxed) != 0
    }

    /// Signals that the kernel keeps because the ring had no room.
    pub(super) fn blocked(&self) -> u64 {
        self.blocked.load(Relaxed)
    }

    /// How often the kernel was asked to keep signals.
    pub(super) fn overflows(&self) -> u64 {
        self.overflows.load(Relaxed)
    }

    /// Signals that neither the ring had room for nor the kernel took back.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    // Not inlined: the compiler would make one sum of both branches, which waits for the load.
    #[cold]
    #[inline(never)]
    fn hold_nested_slow(&self, depth: u32) {
        self.depth.store(depth.saturating_add(1), Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn release_nested_slow(&self, depth: u32) {
        // 0 cannot be: each release is of one hold.
        if depth != STUCK {
            self.depth.store(depth.saturating_sub(1), Relaxed);
        }
    }

    /// Delivers what is recorded, in order, until nothing is; open then.
    #[cold]
    #[inline(never)]
    fn replay_slow(&self, env: &impl Env) {
        loop {
            // Held again: what arrives while handlers run is recorded behind the rest (Invariants 1 and 3).
            self.depth.store(1, Relaxed);
            compiler_fence(SeqCst);
            env.step();
            self.pending.store(0, Relaxed);
            compiler_fence(SeqCst);
            env.step();
            while let Some(info) = self.ring.pop(|| env.step()) {
                env.step();
                env.deliver(&info);
                if self.depth.load(Relaxed) != 1 {
                    return self.leave_kept_slow(env);
                }
            }
            // An exchange: a frame may add to it meanwhile. It adds nothing that is blocked already.
            let blocked = self.blocked.swap(0, Relaxed);
            env.step();
            if blocked != 0 {
                // The kernel delivers its queue into the ring, and blocks again where that fills.
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

    /// The end of a replay whose handler has kept a hold (Invariant 6): what is recorded behind waits for its release.
    #[cold]
    fn leave_kept_slow(&self, env: &impl Env) {
        // Held, so frames record, and each stores 1 itself.
        if self.ring.len() != 0 || self.blocked() != 0 {
            self.pending.store(1, Relaxed);
        }
        compiler_fence(SeqCst);
        env.step();
        self.release_nested_slow(self.depth.load(Relaxed));
        env.step();
    }

    /// A signal arrives, in a frame of the kernel's: runs its handler, or records it.
    ///
    /// `ours` is the signals we have handlers of; `mask` is what the frame's end will leave blocked.
    pub(super) fn arrive(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        if self.depth.load(Relaxed) == 0 && self.pending.load(Relaxed) == 0 {
            env.step_in_frame();
            self.depth.store(1, Relaxed);
            compiler_fence(SeqCst);
            env.deliver(info);
            // Not just a store of 0: a handler may have let signals through.
            return self.release(env);
        }
        self.record(info, ours, mask, env);
    }

    /// Held while it does: another's handler, which may interrupt it and hold and release, must not replay half a record.
    fn record(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        let depth = self.depth.load(Relaxed);
        self.depth.store(depth.max(1), Relaxed);
        compiler_fence(SeqCst);
        self.record_held(info, ours, mask, env);
        compiler_fence(SeqCst);
        // As it was (Invariant 2).
        self.depth.store(depth, Relaxed);
    }

    fn record_held(&self, info: &Info, ours: u64, mask: &mut u64, env: &impl Env) {
        env.step_in_frame();
        if info.is_standard() && self.ring.holds(info.signal()) {
            return; // Merged, as the kernel does with one that is pending already.
        }
        let mut keep = 0;
        if !self.ring.push(info, || env.step_in_frame()) {
            // Somebody let signals through again and again, in one hold. Behind its own kind, but not lost.
            if !env.requeue(info) {
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
            // Relaxed: this thread's. Whole, since other frames may come between.
            self.blocked.fetch_or(fresh, Relaxed);
            self.overflows.fetch_add(1, Relaxed);
        }
        env.step_in_frame();
        compiler_fence(SeqCst);
        self.pending.store(1, Relaxed);
        env.step_in_frame();
    }

    /// In a child of fork: what was recorded is the parent's, as what is pending in the kernel is. Signals are blocked.
    pub(super) fn forget(&self) {
        self.ring.clear();
        self.pending.store(u32::from(self.blocked() != 0), Relaxed);
    }
}
