//! Registering and removing handlers.
//!
//! # Invariants
//! 1. Slots and actions change under [`registry_lock`](super::registry_lock), with the changing thread held. Code under
//!    it does not allocate and calls no foreign code.
//! 2. An entry is settled except while it is being registered or removed. A child of fork may inherit an unsettled one
//!    from a thread that exists only in the parent: that signal can be registered as if it had no handler of ours.
//!
//! # Safety
//! 1. A handler that was boxed is freed only where no slot had its entry.
#![expect(unsafe_code, reason = "a handler's box, which stays")]

use super::delivery::{Entry, OURS, SLOTS, entry, on_signal};
use super::handler::Handler;
use super::hold::hold;
use super::registry_lock::RegistryGuard;
use super::siginfo::bit;
use super::this_thread::Hold;
use super::{Info, fork};
use crate::error::Refusal;
use crate::sys::heap::try_box;
use crate::sys::sigaction::{self, Action};
use crate::sys::signal_mask;
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::ptr::from_ref;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{AcqRel, Relaxed, Release};

/// Registers a handler and installs our function.
pub(super) fn on<H: Handler + Send>(signal: c_int, handler: &'static H, restart: bool) -> Result<(), Refusal> {
    let code: fn(&H, &Info, &Hold) = H::handle;
    keep_loaded(code as *const c_void);
    keep_loaded(from_ref(handler).cast());
    register(signal, handler, restart, &mut false)
}

/// As [`on`]; the handler is leaked once our function could find it, and dropped where the call is refused before. `code` is
/// what the handler calls.
pub(super) fn on_boxed(
    signal: c_int,
    handler: Box<dyn Handler + Send>,
    code: *const c_void,
    restart: bool,
) -> Result<(), Refusal> {
    keep_loaded(code);
    let handler = Box::into_raw(handler);
    let mut published = false;
    // SAFETY: a box that was just taken apart; it stays, unless it is freed below.
    let registered = register(signal, unsafe { &*handler }, restart, &mut published);
    if !published {
        // SAFETY: the same box; the only entry with it was dropped before it was published.
        drop(unsafe { Box::from_raw(handler) });
    }
    registered
}

/// Sets `published` before anybody else can find the handler.
fn register(
    signal: c_int,
    handler: &'static (dyn Handler + Send),
    restart: bool,
    published: &mut bool,
) -> Result<(), Refusal> {
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
    let mut new = try_box(Entry {
        handler,
        on: AtomicBool::new(true),
        settled: AtomicBool::new(false),
        before: Action::default(),
        call_before: AtomicBool::new(false),
    })?;
    let _guard = RegistryGuard::lock(hold())?;
    let found = sigaction::current(signal)?;
    let old = entry(signal);
    // Where the action before ours is in force, nobody calls ours. So it is in a child of fork(2) too, if another thread was here at
    // that moment: the kernel copies actions before memory, so the child may have this entry and not its action.
    let undone = |old: &Entry| !found.is(on_signal) && found.has_handler_of(&old.before);
    if old.is_some_and(|old| old.on.load(Relaxed) && old.settled.load(Relaxed) && !undone(old)) {
        return Err(Refusal::SignalTaken { signal });
    }
    // If our function was left in place, use the action before it.
    let before = match old {
        Some(old) if found.is(on_signal) => old.before,
        _ => found,
    };
    let call = before.is_function() && old.is_none_or(|old| !found.is(on_signal) || old.call_before.load(Relaxed));
    new.before = before;
    new.call_before = AtomicBool::new(call);
    *published = true;
    let new = Box::leak(new);
    let slot = &SLOTS[signal as usize];
    // Release: pairs with the Acquire in `entry`. Stored before the function is installed, so that it finds its entry.
    let replaced = slot.swap(new, Release);
    if let Err(refusal) = install(signal, &Action::ours(on_signal, restart, &before)) {
        slot.store(replaced, Release);
        return Err(refusal);
    }
    OURS.fetch_or(bit(signal), Relaxed);
    // Relaxed, here and in `off`: read under the lock, or in a child of fork.
    new.settled.store(true, Relaxed);
    Ok(())
}

/// Keeps this link unit mapped, because the kernel and the C library call its functions from now on. If the dynamic
/// linker refuses, code that closes the unit must remove the handlers first and not fork afterwards.
fn stay_loaded() {
    let _ = crate::sys::dl::stay_loaded();
}

/// The same for the link unit with this code or data of a handler, if one has it: it may be another than ours.
fn keep_loaded(address: *const c_void) {
    let _ = crate::sys::dl::keep_loaded(address);
}

/// Installs our function and reads it back: a filter may report success without the call.
fn install(signal: c_int, action: &Action) -> Result<(), Refusal> {
    sigaction::install(signal, action)?;
    if sigaction::current(signal)?.is(on_signal) {
        return Ok(());
    }
    let errno = libc::ENOSYS;
    Err(Refusal::Signal { signal, errno })
}

/// Removes a handler and restores the action before it.
pub(super) fn off(signal: c_int) -> Result<(), Refusal> {
    let _guard = RegistryGuard::lock(hold())?;
    let is_ours = |entry: &&Entry| entry.on.load(Relaxed) && entry.settled.load(Relaxed);
    let Some(entry) = entry(signal).filter(is_ours) else {
        return Err(Refusal::SignalNotOurs { signal });
    };
    if !sigaction::current(signal)?.is(on_signal) {
        return Err(Refusal::SignalNotOurs { signal });
    }
    entry.settled.store(false, Relaxed);
    // A one-shot handler that was called is not restored. AcqRel: pairs with the exchange in `on_signal`.
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
