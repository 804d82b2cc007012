//! The program's handlers by signal, and the one function that the kernel calls for all of them.
//!
//! # Invariants
//! 1. An entry is never freed once it is in its slot: a handler on another thread may be reading it. Removing a handler
//!    leaves its entry in place, which still calls the previous handler.
//! 2. Slots and actions change under [`registry_lock`](super::registry_lock), with the changing thread held. Code under
//!    it does not allocate and calls no foreign code.
//! 3. An entry is settled except while it is being registered or removed. A child of fork may inherit an unsettled one
//!    from a thread that exists only in the parent: that signal can be registered as if it had no handler of ours.
//!
//! # Safety
//! 1. `on_signal` is installed with SA_SIGINFO. The kernel calls it, or a handler installed over it that forwards its
//!    own arguments.
//! 2. A slot holds null or a leaked entry.
#![expect(unsafe_code, reason = "an entry behind an atomic pointer; the kernel's pointers")]

use super::handler::Handler;
use super::hold::{Hold, hold};
use super::registry_lock::RegistryGuard;
use super::siginfo::bit;
use super::this_thread::thread_mask;
use super::thread_mask::Env;
use super::{Info, fork};
use crate::error::Refusal;
use crate::sys::heap::try_box;
use crate::sys::sigaction::{self, Action};
use crate::sys::{errno, signal_mask, sigqueue};
use alloc::boxed::Box;
use core::ffi::{c_int, c_void};
use core::ptr::from_ref;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// A handler of ours, and the action before it.
struct Entry {
    handler: &'static (dyn Handler + Send),
    /// False once it is removed.
    on: AtomicBool,
    /// False while it is being registered or removed (Invariant 3).
    settled: AtomicBool,
    /// The action installed before.
    before: Action,
    /// Whether to call it: it is a function, and not a one-shot (SA_RESETHAND) that was already called.
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
    // SAFETY: null, or an entry that `on` leaked and that is never freed (Invariant 1 and Safety 2).
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
extern "C" fn on_signal(signal: c_int, info: *mut c_void, context: *mut c_void) {
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
            // SAFETY: it is a function, and we are in a handler (Invariant 1).
            unsafe { entry.before.call(signal, info, context) };
        }
        // SAFETY: Invariant 1.
        let information = Info(unsafe { sigqueue::information(info) });
        // SAFETY: Invariant 1.
        let before = unsafe { signal_mask::frame_mask(context) };
        let mut mask = before;
        // Relaxed: a signal being registered now may be blocked or not.
        thread_mask().arrive(&information, OURS.load(Relaxed), &mut mask, &ProcessEnv);
        if mask != before {
            // SAFETY: Invariant 1.
            unsafe { signal_mask::set_frame_mask(context, mask) };
        }
    }
    errno::set(errno);
}

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
