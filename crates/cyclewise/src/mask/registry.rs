//! The program's handlers, by signal, and the one function that the kernel calls for all of them.
//!
//! # Invariants
//! 1. An entry, once in its slot, is never freed: a handler on another thread may be reading it. Taking a handler off
//!    leaves its entry in place, to call on who was there before.
//! 2. Slots and actions are changed under the lock of [`registry_lock`](super::registry_lock), with the changing thread held. Nothing
//!    is allocated under it, and no code of others is called.
//! 3. An entry is settled but while it is being registered or taken off. A child of fork may be left with one that is not,
//!    by a thread that it does not have: such a signal can be registered, as if it had no handler of ours.
//!
//! # Safety
//! 1. `on_signal` is installed with SA_SIGINFO and is called by the kernel, or by a handler that was installed over it and
//!    hands on what it was given.
//! 2. A slot holds null or a leaked entry.
#![expect(unsafe_code, reason = "an entry behind an atomic pointer; the kernel's pointers")]

use super::handler::Handler;
use super::hold::{Hold, thread_mask};
use super::registry_lock::RegistryGuard;
use super::siginfo::bit;
use super::thread_mask::Env;
use super::{Info, fork};
use crate::error::Refusal;
use crate::sys::sigaction::{self, Action};
use crate::sys::{errno, signal_mask, sigqueue};
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// A handler of ours, and who was there before.
struct Entry {
    handler: &'static (dyn Handler + Send),
    /// False once it is taken off.
    on: AtomicBool,
    /// False while it is being registered or taken off (Invariant 3).
    settled: AtomicBool,
    /// What was installed before.
    before: Action,
    /// Whether that is to be called: it is a function, and not one to be called once that has been.
    call_before: AtomicBool,
}

const SIGNALS: usize = 64;

static SLOTS: [AtomicPtr<Entry>; SIGNALS + 1] = [const { AtomicPtr::new(core::ptr::null_mut()) }; SIGNALS + 1];
/// Signals that have a handler of ours.
static OURS: AtomicU64 = AtomicU64::new(0);

fn entry(signal: c_int) -> Option<&'static Entry> {
    let slot = SLOTS.get(usize::try_from(signal).ok()?)?;
    // Acquire: pairs with the Release in `on`.
    let entry = slot.load(Acquire);
    // SAFETY: null, or an entry that `on` has leaked, which nobody frees (Invariant 1 and Safety 2).
    unsafe { entry.as_ref() }
}

/// The protocol's surroundings as they are in a program.
pub(super) struct ProcessEnv;

impl Env for ProcessEnv {
    fn deliver(&self, info: &Info) {
        // Mainline looks at errno after a release as it would have without one.
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

/// What the kernel calls, with every signal blocked that can be.
extern "C" fn on_signal(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let errno = errno::get();
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
        let information = Info(unsafe { sigqueue::information(info) });
        // SAFETY: Invariant 1.
        let before = unsafe { signal_mask::frame_mask(context) };
        let mut mask = before;
        // Relaxed: a signal that is registered just now may be blocked or not.
        thread_mask().arrive(&information, OURS.load(Relaxed), &mut mask, &ProcessEnv);
        if mask != before {
            // SAFETY: Invariant 1.
            unsafe { signal_mask::set_frame_mask(context, mask) };
        }
    }
    errno::set(errno);
}

/// Registers a handler and installs our function.
pub(super) fn on(signal: c_int, handler: &'static (dyn Handler + Send), restart: bool) -> Result<(), Refusal> {
    if bit(signal) != 0 && bit(signal) & signal_mask::MASKABLE == 0 {
        return match signal {
            libc::SIGKILL | libc::SIGSTOP => Err(Refusal::Signal {
                signal,
                errno: libc::EINVAL,
            }),
            _ => Err(Refusal::Fault { signal }),
        };
    }
    fork::watch()?;
    stay_loaded();
    let mut new = Box::new(Entry {
        handler,
        on: AtomicBool::new(true),
        settled: AtomicBool::new(false),
        before: Action::default(),
        call_before: AtomicBool::new(false),
    });
    let _guard = RegistryGuard::lock()?;
    let found = sigaction::current(signal)?;
    let old = entry(signal);
    if old.is_some_and(|old| old.on.load(Relaxed) && old.settled.load(Relaxed)) {
        return Err(Refusal::SignalTaken { signal });
    }
    // Where ours was left in place, what counts is who was before it.
    let before = match old {
        Some(old) if found.is(on_signal) => old.before,
        _ => found,
    };
    let call = before.is_function() && old.is_none_or(|old| !found.is(on_signal) || old.call_before.load(Relaxed));
    new.before = before;
    new.call_before = AtomicBool::new(call);
    let new = Box::leak(new);
    let slot = &SLOTS[signal as usize];
    // Release: pairs with the Acquire in `entry`. Before the kernel knows the function, so that it finds its entry.
    let replaced = slot.swap(new, Release);
    if let Err(refusal) = install(signal, &Action::ours(on_signal, restart, &before)) {
        slot.store(replaced, Release);
        return Err(refusal);
    }
    OURS.fetch_or(bit(signal), Relaxed);
    // Relaxed, here and in `off`: read under the lock, or in a child.
    new.settled.store(true, Relaxed);
    Ok(())
}

/// Keeps this link unit mapped, whose functions the kernel and the C library call from now on. Where the linker refuses, who
/// closes it takes the handlers off first, and forks no more.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom)))]
fn stay_loaded() {
    let _ = crate::sys::dl::stay_loaded();
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom))))]
fn stay_loaded() {}

/// Installs our function, and looks whether it is there: a filter may answer for the kernel.
fn install(signal: c_int, action: &Action) -> Result<(), Refusal> {
    sigaction::install(signal, action)?;
    if sigaction::current(signal)?.is(on_signal) {
        return Ok(());
    }
    let errno = libc::ENOSYS;
    Err(Refusal::Signal { signal, errno })
}

/// Takes a handler off and puts back who was there before.
pub(super) fn off(signal: c_int) -> Result<(), Refusal> {
    let _guard = RegistryGuard::lock()?;
    let is_ours = |entry: &&Entry| entry.on.load(Relaxed) && entry.settled.load(Relaxed);
    let Some(entry) = entry(signal).filter(is_ours) else {
        return Err(Refusal::SignalNotOurs { signal });
    };
    if !sigaction::current(signal)?.is(on_signal) {
        return Err(Refusal::SignalNotOurs { signal });
    }
    entry.settled.store(false, Relaxed);
    // Who was to be called once, and has been, is nobody's handler any more. AcqRel: pairs with the exchange in `on_signal`.
    let once = entry.before.is_function() && entry.before.is_once();
    let called = once && !entry.call_before.swap(false, AcqRel);
    let back = if called { Action::default() } else { entry.before };
    if let Err(refusal) = sigaction::install(signal, &back) {
        if once {
            entry.call_before.store(!called, Relaxed);
        }
        entry.settled.store(true, Relaxed);
        return Err(refusal);
    }
    // Release: pairs with the Acquire in `run`.
    entry.on.store(false, Release);
    OURS.fetch_and(!bit(signal), Relaxed);
    Ok(())
}
