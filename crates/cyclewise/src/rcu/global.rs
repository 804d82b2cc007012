//! The global domain: all threads' sections, one queue.
//!
//! # Safety
//! 1. A deferred closure is run once, after a grace period, on any thread.
#![expect(unsafe_code, reason = "functions of C with their arguments")]

use super::node;
use super::protocol::STEP;
use super::queue::{Deferred, Periods, Queue};
use super::record;
use super::stall::Wait;
use crate::error::Refusal;
use crate::fence;
use core::ffi::c_void;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU64, compiler_fence};

/// The number of the newest grace period. In a line that readers share and writers seldom change.
pub(super) static PERIOD: Line = Line(AtomicU64::new(STEP));

#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Line(pub(super) AtomicU64);

static QUEUE: Queue = Queue::new();

/// The light fence of a section's beginning, which only a thread in an asymmetric process makes.
#[inline(always)]
pub(super) fn light() {
    compiler_fence(SeqCst);
}

pub(super) fn global_queue() -> Deferred<'static, Threads> {
    Deferred {
        queue: &QUEUE,
        periods: Threads,
    }
}

/// Grace periods of all threads' sections.
#[derive(Clone, Copy)]
pub(super) struct Threads;

impl Periods for Threads {
    fn begin(&self) -> Result<u64, Refusal> {
        fence::try_heavy_batched()?;
        // After the fence: see `protocol`. Relaxed: the fences order it.
        Ok(PERIOD.0.fetch_add(STEP, Relaxed) + STEP)
    }

    fn is_over(&self, period: u64, mut wait: Option<&mut Wait>) -> bool {
        for record in record::all() {
            if record.reader.holds_up(period) {
                if let Some(wait) = wait.take() {
                    wait.once(|| record.thread());
                }
                if record.reader.holds_up(period) {
                    return false;
                }
            }
        }
        true
    }

    fn is_inside(&self) -> bool {
        let record = record::current();
        let is_inside = record.reader.is_inside();
        if is_inside {
            record.ask_for_help();
        }
        is_inside
    }
}

/// Registers the calling thread, as its first section would. Then its signal handlers may read.
pub fn register() {
    record::registered();
}

/// Returns when every section has ended that was open at the call.
///
/// # Panics
/// Inside a section, which would wait for itself. Where no heavy fence can be made: see [`try_heavy`](fence::try_heavy).
#[doc(alias = "synchronize_rcu")]
pub fn synchronize() {
    assert!(
        !record::current().reader.is_inside(),
        "rcu: synchronize in a section of reads would wait for itself"
    );
    record::settle();
    let period = match Threads.begin() {
        Ok(period) => period,
        Err(refusal) => panic!("rcu: no grace period: {refusal}"),
    };
    for record in record::all() {
        let mut wait = Wait::new();
        while record.reader.holds_up(period) {
            wait.once(|| record.thread());
        }
    }
}

/// Calls `closure` after a grace period, on the thread of any writer.
#[doc(alias = "call_rcu")]
pub fn defer(closure: impl FnOnce() + Send + 'static) {
    global_queue().defer(closure);
}

/// [`defer`] for a function of C, whose library stays mapped from now on.
///
/// # Safety
/// After a grace period any thread may call the function with the argument, once. It returns.
pub unsafe fn defer_call(function: unsafe extern "C" fn(*mut c_void), argument: *mut c_void) {
    struct Call(unsafe extern "C" fn(*mut c_void), *mut c_void);
    // SAFETY: any thread may make the call, guaranteed by the caller.
    unsafe impl Send for Call {}
    impl Call {
        fn make(self) {
            // SAFETY: after a grace period, and once; guaranteed by the caller.
            unsafe { (self.0)(self.1) };
        }
    }
    node::keep_loaded(function as *const ());
    let call = Call(function, argument);
    defer(move || call.make());
}

/// Drops `value` after a grace period.
#[doc(alias = "kfree_rcu")]
pub fn drop_later(value: impl Send + 'static) {
    defer(move || drop(value));
}

/// Returns when all closures that were deferred before have run.
///
/// # Panics
/// Inside a section and in a deferred closure, which would wait for themselves. Where no heavy fence can be made.
#[doc(alias = "rcu_barrier")]
pub fn barrier() {
    global_queue().barrier();
}

/// How many closures wait for their grace period, about.
#[must_use]
pub fn pending() -> usize {
    QUEUE.pending()
}
