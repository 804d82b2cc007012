//! Readers that hold up a grace period for long, and the hook that is told of them.
//!
//! # Safety
//! 1. The word is null or a `fn(&Stall)`.
#![expect(unsafe_code, reason = "a function in an atomic word")]

use crate::sys::clock_gettime::monotonic_ns;
use crate::sys::thread;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicPtr, AtomicU64};
use core::time::Duration;

/// A reader that holds a grace period up.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// The kernel's id of the thread that began the section.
    pub thread: i32,
    /// For how long the writer has waited for it. The section has been open for at least that long.
    pub waited: Duration,
}

/// The default bound: 1 s.
const DEFAULT_BOUND_NS: u64 = 1_000_000_000;

static HOOK: AtomicPtr<()> = AtomicPtr::new(core::ptr::null_mut());
static BOUND_NS: AtomicU64 = AtomicU64::new(DEFAULT_BOUND_NS);

/// Has `hook` called for each reader that holds a grace period up for longer than `bound`, and again each time it has lasted as long
/// again. The thread that waits calls it, so it must not wait for a grace period itself. Its library stays mapped from now on. `None` calls
/// nothing, as at first; then the bound has no effect.
pub fn set_stall_hook(hook: Option<fn(&Stall)>, bound: Duration) {
    let bound_ns = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
    BOUND_NS.store(bound_ns.max(1), Relaxed);
    let hook = hook.map_or(core::ptr::null_mut(), |hook| hook as *mut ());
    if !hook.is_null() {
        super::node::keep_loaded(hook);
    }
    HOOK.store(hook, Relaxed);
}

/// Waiting for one reader.
pub(super) struct Wait {
    looks: u32,
    since_ns: u64,
    told: u64,
}

/// Looks before the first nap: sections are short, or their threads do not run.
const SPINS: u32 = 200;

impl Wait {
    pub(super) fn new() -> Self {
        Self {
            looks: 0,
            since_ns: 0,
            told: 0,
        }
    }

    /// Spins at first, then sleeps 50 µs at a time, and tells the hook where that lasts.
    pub(super) fn once(&mut self, thread: impl Fn() -> i32) {
        if self.looks < SPINS {
            self.looks += 1;
            return core::hint::spin_loop();
        }
        let now_ns = monotonic_ns();
        if self.since_ns == 0 {
            self.since_ns = now_ns;
        }
        let waited_ns = now_ns.saturating_sub(self.since_ns);
        let bounds = waited_ns / BOUND_NS.load(Relaxed);
        if bounds > self.told {
            self.told = bounds;
            tell(&Stall {
                thread: thread(),
                waited: Duration::from_nanos(waited_ns),
            });
        }
        thread::nap();
    }
}

fn tell(stall: &Stall) {
    let hook = HOOK.load(Relaxed);
    if !hook.is_null() {
        // SAFETY: not null, so what `set_stall_hook` was given.
        let hook = unsafe { core::mem::transmute::<*mut (), fn(&Stall)>(hook) };
        hook(stall);
    }
}
