//! The program's handlers, by signal, and the one function that the kernel calls for all of them.
//!
//! # Invariants
//! 1. An entry, once in its slot, is never freed: a handler on another thread may be reading it. Taking a handler off
//!    leaves its entry in place, to call on who was there before.
//! 2. Slots and actions are changed under `LOCK`, with the changing thread held. A fork takes it, so that a child does not
//!    inherit it from a thread it does not have.
//!
//! # Safety
//! 1. `on_signal` is installed with SA_SIGINFO and is called by the kernel, or by a handler that was installed over it and
//!    hands on what it was given.
//! 2. A slot holds null or a leaked entry.
#![expect(unsafe_code, reason = "an entry behind an atomic pointer; the kernel's pointers")]

use super::Info;
use super::handler::Handler;
use super::hold::{Hold, here, hold};
use super::info::bit;
use super::state::Around;
use crate::error::Refusal;
use crate::sys::sigaction::{self, Action};
use crate::sys::{fork, sigmask, task, thread};
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// A handler of ours, and who was there before.
struct Entry {
    handler: &'static (dyn Handler + Send),
    /// False once it is taken off.
    on: AtomicBool,
    /// What was installed before.
    before: Action,
    /// Whether that is to be called: it is a function, and not one to be called once that has been.
    call_before: AtomicBool,
}

const SIGNALS: usize = 64;

static SLOTS: [AtomicPtr<Entry>; SIGNALS + 1] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SIGNALS + 1];
/// Signals that have a handler of ours.
static OURS: AtomicU64 = AtomicU64::new(0);
static LOCK: AtomicBool = AtomicBool::new(false);
static FORKS: AtomicBool = AtomicBool::new(false);

fn entry(signal: c_int) -> Option<&'static Entry> {
    let slot = SLOTS.get(usize::try_from(signal).ok()?)?;
    // Acquire: pairs with the Release in `on`.
    let entry = slot.load(Acquire);
    // SAFETY: Invariants 2 and 1.
    unsafe { entry.as_ref() }
}

/// The protocol's surroundings as they are in a program.
pub(super) struct Program;

impl Around for Program {
    fn deliver(&self, info: &Info) {
        // Mainline looks at errno after a release as it would have without one.
        let errno = thread::errno();
        run(info);
        thread::set_errno(errno);
    }

    fn unblock(&self, signals: u64) {
        sigmask::unblock(signals);
    }

    fn requeue(&self, info: &Info) {
        sigmask::requeue(&info.0);
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

/// What the kernel calls, with every signal blocked that can be.
extern "C" fn on_signal(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let errno = thread::errno();
    if let Some(entry) = entry(signal) {
        // At once, hold or not: it knows nothing of holds, and what `context` says is true now only. AcqRel: one of two
        // threads takes the one call; pairs with itself.
        let once = entry.before.is_once();
        let call = if once {
            entry.call_before.swap(false, AcqRel)
        } else {
            entry.call_before.load(Relaxed)
        };
        if call {
            // SAFETY: it is a function, and we are in a handler (Invariant 1).
            unsafe { entry.before.call(signal, info, context) };
        }
        // SAFETY: Invariant 1.
        let information = Info(unsafe { sigmask::information(info) });
        // SAFETY: Invariant 1.
        let before = unsafe { sigmask::frame_mask(context) };
        let mut mask = before;
        // Relaxed: a signal that is registered just now may be blocked or not.
        here().arrive(&information, OURS.load(Relaxed), &mut mask, &Program);
        if mask != before {
            // SAFETY: Invariant 1.
            unsafe { sigmask::set_frame_mask(context, mask) };
        }
    }
    thread::set_errno(errno);
}

/// The lock, with the thread held.
struct Locked {
    _hold: Hold,
}

impl Locked {
    fn take() -> Self {
        let hold = hold();
        // Acquire: pairs with the Release in `drop`.
        while LOCK.swap(true, Acquire) {
            task::yield_now();
        }
        Self { _hold: hold }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `take`.
        LOCK.store(false, Release);
    }
}

/// Registers a handler and installs our function.
pub(super) fn on(signal: c_int, handler: &'static (dyn Handler + Send), restart: bool) -> Result<(), Refusal> {
    if bit(signal) != 0 && bit(signal) & sigmask::MASKABLE == 0 {
        return match signal {
            libc::SIGKILL | libc::SIGSTOP => Err(Refusal::Signal {
                signal,
                errno: libc::EINVAL,
            }),
            _ => Err(Refusal::Fault { signal }),
        };
    }
    let _locked = Locked::take();
    prepare_for_forks()?;
    let found = sigaction::current(signal)?;
    let old = entry(signal);
    if old.is_some_and(|old| old.on.load(Relaxed)) {
        return Err(Refusal::SignalTaken { signal });
    }
    // Where ours was left in place, what counts is who was before it.
    let before = match old {
        Some(old) if found.is(on_signal) => old.before,
        _ => found,
    };
    let call = before.is_function() && old.is_none_or(|old| !found.is(on_signal) || old.call_before.load(Relaxed));
    let new = Box::leak(Box::new(Entry {
        handler,
        on: AtomicBool::new(true),
        before,
        call_before: AtomicBool::new(call),
    }));
    let slot = &SLOTS[signal as usize];
    // Release: pairs with the Acquire in `entry`. Before the kernel knows the function, so that it finds its entry.
    let replaced = slot.swap(new, Release);
    if let Err(refusal) = sigaction::install(signal, &Action::ours(on_signal, restart, &before)) {
        slot.store(replaced, Release);
        return Err(refusal);
    }
    OURS.fetch_or(bit(signal), Relaxed);
    Ok(())
}

/// Takes a handler off and puts back who was there before.
pub(super) fn off(signal: c_int) -> Result<(), Refusal> {
    let _locked = Locked::take();
    let Some(entry) = entry(signal).filter(|entry| entry.on.load(Relaxed)) else {
        return Err(Refusal::SignalNotOurs { signal });
    };
    if !sigaction::current(signal)?.is(on_signal) {
        return Err(Refusal::SignalNotOurs { signal });
    }
    // Who was to be called once, and has been, is nobody's handler any more. AcqRel: pairs with the exchange in `on_signal`.
    let once = entry.before.is_function() && entry.before.is_once();
    let called = once && !entry.call_before.swap(false, AcqRel);
    let back = if called { Action::default() } else { entry.before };
    if let Err(refusal) = sigaction::install(signal, &back) {
        if once {
            entry.call_before.store(!called, Relaxed);
        }
        return Err(refusal);
    }
    // Release: pairs with the Acquire in `run`.
    entry.on.store(false, Release);
    OURS.fetch_and(!bit(signal), Relaxed);
    Ok(())
}

/// Registers what is done around forks, once. The lock is held.
fn prepare_for_forks() -> Result<(), Refusal> {
    if !FORKS.load(Relaxed) {
        fork::around(before_fork, after_fork, in_child)?;
        FORKS.store(true, Relaxed);
    }
    Ok(())
}

/// Blocks signals, so that none is recorded between here and the child's first step, which forgets what is.
extern "C" fn before_fork() {
    here().before_fork.store(sigmask::block_all(), Relaxed);
    // Not `Locked`: signals are blocked, and the guard could not be kept.
    while LOCK.swap(true, Acquire) {
        task::yield_now();
    }
}

extern "C" fn after_fork() {
    LOCK.store(false, Release);
    sigmask::set(here().before_fork.load(Relaxed));
}

extern "C" fn in_child() {
    here().forget();
    after_fork();
}
