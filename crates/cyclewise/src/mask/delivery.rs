//! The program's handlers by signal, and the one function that the kernel calls for all of them.
//!
//! # Invariants
//! 1. An entry is never freed once it is in its slot: a handler on another thread may be reading it. Removing a handler
//!    leaves its entry in place, which still calls the previous handler.
//!
//! # Safety
//! 1. `on_signal` is installed with SA_SIGINFO. The kernel calls it, or a handler installed over it that forwards its
//!    own arguments.
//! 2. A slot holds null or a leaked entry.
#![expect(unsafe_code, reason = "an entry behind an atomic pointer; the kernel's pointers")]

use super::Info;
use super::handler::Handler;
use super::this_thread::{Hold, thread_mask};
use super::thread_mask::Env;
use crate::sys::sigaction::Action;
use crate::sys::{errno, signal_mask, sigqueue};
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// A handler of ours, and the action before it.
pub(super) struct Entry {
    pub(super) handler: &'static (dyn Handler + Send),
    /// False once it is removed.
    pub(super) on: AtomicBool,
    /// False while it is being registered or removed (Invariant 2 of `registry`).
    pub(super) settled: AtomicBool,
    pub(super) before: Action,
    /// Whether to call it: it is a function, and not a one-shot (SA_RESETHAND) that was already called.
    pub(super) call_before: AtomicBool,
}

const SIGNALS: usize = 64;

pub(super) static SLOTS: [AtomicPtr<Entry>; SIGNALS + 1] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; SIGNALS + 1];
/// Signals that have a handler of ours.
pub(super) static OURS: AtomicU64 = AtomicU64::new(0);

pub(super) fn entry(signal: c_int) -> Option<&'static Entry> {
    let slot = SLOTS.get(usize::try_from(signal).ok()?)?;
    // Acquire: pairs with the Release in `register`.
    let entry = slot.load(Acquire);
    // SAFETY: null, or an entry that `register` leaked and that is never freed (Invariant 1 and Safety 2).
    unsafe { entry.as_ref() }
}

/// The protocol's environment in a real program.
pub(super) struct ProcessEnv;

impl Env for ProcessEnv {
    fn deliver(&self, info: &Info) {
        // A release must not change the errno that mainline reads after it.
        let errno = errno::get();
        run(info);
        errno::set(errno);
    }

    fn unblock(&self, signals: u64) {
        signal_mask::unblock(signals);
    }

    fn requeue(&self, info: &Info) -> bool {
        sigqueue::requeue(&info.0)
    }
}

/// Runs the handler. `extern "C"`: a panic out of it aborts, wherever it runs.
extern "C" fn run(info: &Info) {
    if let Some(entry) = entry(info.signal())
        // Acquire: pairs with the Release in `off`.
        && entry.on.load(Acquire)
    {
        entry.handler.handle(info, &Hold::proof());
    }
}

/// The function that the kernel calls, with every maskable signal blocked.
pub(super) extern "C" fn on_signal(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let errno = errno::get();
    if let Some(entry) = entry(signal) {
        // Called at once, even under a hold: it does not know of holds, and `context` is valid only now. AcqRel: pairs
        // with itself, so that one of two threads makes the one call.
        let once = entry.before.is_once();
        let call = if once {
            entry.call_before.swap(false, AcqRel)
        } else {
            entry.call_before.load(Relaxed)
        };
        if call {
            // SAFETY: it is a function, and we are in a handler (Safety 1).
            unsafe { entry.before.call(signal, info, context) };
        }
        // SAFETY: Safety 1.
        let information = Info(unsafe { sigqueue::information(info) });
        // SAFETY: Safety 1.
        let before = unsafe { signal_mask::frame_mask(context) };
        let mut mask = before;
        // Relaxed: a signal being registered now may be blocked or not.
        thread_mask().arrive(&information, OURS.load(Relaxed), &mut mask, &ProcessEnv);
        if mask != before {
            // SAFETY: Safety 1.
            unsafe { signal_mask::set_frame_mask(context, mask) };
        }
    }
    errno::set(errno);
}
