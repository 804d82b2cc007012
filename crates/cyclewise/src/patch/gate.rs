//! Who may change the text, which mode is in force, and how many threads are being created.
//!
//! # States
//! [`LOCKED`] → [`SINGLE`] → `LOCKED`, `LOCKED` → [`CONFINED`] → `LOCKED`, and `SINGLE` → `CONFINED`. A state that allows
//! elided sites is entered before the first byte changes and left after the last one has changed back.
//!
//! # Invariants
//! 1. Text and [`Shared`] are changed by the thread in [`OWNER`] only.
//! 2. Where any site may be elided, [`MODE`] is not `LOCKED`.
//! 3. A thread that creates another is counted in [`CREATING`] from before it looks at `MODE` until the other exists.
//!
//! # After fork
//! The child has the caller's thread, the text and all of this as they were. Where another thread was the owner, it is
//! not there: the child takes the gate over and starts with a new `Shared`, since the old one may be half changed.
//! `CONFINED` becomes `SINGLE` before fork returns in the child: it has one thread, and its affinity may be older than its
//! text, since the kernel copies the one long before the other. Threads that others were creating stay counted in the
//! child, which is then refused single mode: LOCK stays.
//!
//! # Memory ordering
//! `OWNER` is acquired and released like a lock. `MODE` and `CREATING` are sequentially consistent: a creator writes
//! `CREATING` and then reads `MODE`, and who elides does the converse, so one of them sees the other.
//! These are std's atomics: ours would be patched by what they guard.
//!
//! # Safety
//! `Shared` is reached through [`Held`] only, of which there is one at a time (Invariant 1).
#![expect(unsafe_code, reason = "a cell guarded by a lock that survives fork")]

use super::plan::Plan;
use crate::error::Refusal;
use crate::sys::affinity::CpuSet;
use crate::sys::{task, thread};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use core::time::Duration;
use std::vec::Vec;

/// Every prefix is LOCK, and anything may happen.
pub(super) const LOCKED: u8 = 0;
/// Prefixes may be elided: there is one thread, and it restores them before it creates another.
pub(super) const SINGLE: u8 = 1;
/// Prefixes may be elided: all threads are confined to one CPU, and so are those that they create.
pub(super) const CONFINED: u8 = 2;

/// The mode in force.
pub(super) static MODE: AtomicU8 = AtomicU8::new(LOCKED);

/// The thread that holds the gate, 0 for none.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// Calls that create a thread and have not returned.
static CREATING: AtomicUsize = AtomicUsize::new(0);

/// Whether the C library has ever been asked for a thread that creates others on its own: for timers, message queues,
/// asynchronous I/O and name look-ups. Those are seen in the list of threads, and not while they are on the way.
pub(super) static HELPERS: AtomicBool = AtomicBool::new(false);

/// How long a waiting thread sleeps: about as long as a change of the text takes.
pub(super) const WAIT: Duration = Duration::from_micros(50);

/// What the modes keep from one change to the next.
pub(super) struct Shared {
    /// The edits.
    pub(super) plan: Plan,
    /// The CPU of confined mode.
    pub(super) cpu: u32,
    /// Whether a guard of confined mode exists.
    pub(super) guarded: bool,
    /// The affinity that threads had when they were confined.
    pub(super) saved: Vec<(i32, CpuSet)>,
    /// The affinity of the thread that entered confined mode: what threads created in it are given.
    pub(super) default: Option<CpuSet>,
}

impl Shared {
    const fn new() -> Self {
        Self {
            plan: Plan::new(),
            cpu: 0,
            guarded: false,
            saved: Vec::new(),
            default: None,
        }
    }
}

/// In a child of fork: one thread, whatever its affinity. Registered when the modes are enabled, which comes before the
/// first of them: of a fork that has begun, the C library leaves out handlers that are registered later.
pub(super) extern "C" fn after_fork() {
    // SeqCst as every access of `MODE`; nobody else runs here yet.
    let _ = MODE.compare_exchange(CONFINED, SINGLE, Ordering::SeqCst, Ordering::SeqCst);
}

struct Cell(UnsafeCell<Shared>);

// SAFETY: reached through `Held` only, by one thread at a time (Invariant 1).
unsafe impl Sync for Cell {}

static SHARED: Cell = Cell(UnsafeCell::new(Shared::new()));

/// The right to change the text, given back when dropped.
pub(super) struct Held(());

/// Waits for the gate.
///
/// # Errors
/// [`Refusal::Busy`] where the calling thread holds it already: from a signal handler that interrupted a change.
pub(super) fn hold() -> Result<Held, Refusal> {
    let me = thread::id();
    loop {
        // Acquire: pairs with the Release in `Held::drop`, so that the holder's changes of `Shared` are seen.
        let owner = match OWNER.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Ok(Held(())),
            Err(owner) => owner,
        };
        if owner == me {
            return Err(Refusal::Busy);
        }
        if !task::is_gone(owner) {
            std::thread::sleep(WAIT);
        } else if OWNER
            .compare_exchange(owner, me, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
        {
            // The owner stayed behind in the process that this one was forked from. What it was writing is not read
            // and not dropped.
            // SAFETY: the gate is held since the line above.
            unsafe { SHARED.0.get().write(Shared::new()) };
            return Ok(Held(()));
        }
    }
}

impl Held {
    /// What the gate guards.
    pub(super) fn shared(&mut self) -> &mut Shared {
        // SAFETY: Invariant 1, and the borrow of `Held` is exclusive.
        unsafe { &mut *SHARED.0.get() }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `hold`.
        OWNER.store(0, Ordering::Release);
    }
}

/// A call that creates a thread, counted until it is dropped.
pub(super) struct Creating(());

impl Creating {
    /// Counts the call (Invariant 3).
    pub(super) fn new() -> Self {
        CREATING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }

    /// Whether any call is counted.
    pub(super) fn any() -> bool {
        CREATING.load(Ordering::SeqCst) != 0
    }
}

impl Drop for Creating {
    fn drop(&mut self) {
        CREATING.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_is_held_once_and_taken_over_from_who_is_gone() {
        let held = hold().unwrap();
        let again = hold().map(drop).unwrap_err();
        assert_eq!(again, Refusal::Busy);
        drop(held);

        // A number that no thread has (the kernel's limit is 2^22): as in a child forked while another thread held it.
        OWNER.store(i32::MAX, Ordering::Relaxed);
        let mut held = hold().unwrap();
        assert!(!held.shared().guarded);
        drop(held);
        assert_eq!(OWNER.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn creators_are_counted_until_they_return() {
        let creating = Creating::new();
        assert!(Creating::any());
        drop(creating);
        assert!(!Creating::any());
    }
}
