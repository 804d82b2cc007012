//! Registering handlers.
//!
//! # Safety
//! 1. The unsafe function's contract is the one of the trait that it implements.
#![expect(unsafe_code, reason = "a closure's promise cannot be checked")]

use super::handler::{Closure, Handler};
use super::{Hold, Info, registry};
use crate::error::Refusal;
use crate::sys::heap::try_box;
use alloc::boxed::Box;
use core::ffi::c_void;

/// The process's handlers.
///
/// A handler registered here runs with all others held on its thread. It interrupts its thread anywhere, except under a
/// [`hold`](super::hold()): then it runs at the release. Each signal has one handler.
///
/// # Stack
/// A handler runs on its thread's alternate stack (SA_ONSTACK, sigaltstack(2)), and without one on the stack that the thread is on: a
/// goroutine's or a coroutine's may have no room. std gives its threads one of 8 KiB. At a release it runs on the stack of the
/// code that releases.
///
/// An alternate stack has room for the kernel's frame, `getauxval(AT_MINSIGSTKSZ)` bytes (3376 with AVX-512, more with AMX; C's constant
/// MINSIGSTKSZ is too small for both), and below it for us and the handler. A flag or a counter takes 300 bytes with our part of it, a
/// [`Queue`](super::Queue) whose lock is waited for 700; in unoptimized builds twice that. A function that the dynamic linker binds at
/// its first call takes another 3 KiB with AVX-512, unless the program is linked with `-z now`. A panic takes more than 8 KiB.
///
/// # Foreign handlers
/// A handler installed before is called first, at once, even under a hold, with its original context. Its SA_RESETHAND,
/// SA_NOCLDSTOP and SA_NOCLDWAIT are kept; its mask is ours, which is larger, and its stack is ours. A handler installed later over
/// ours works as usual: it may call ours or suppress it. If a foreign handler leaves by siglongjmp, ours does not run for that signal.
///
/// # Errors under a sandbox
/// If a filter (seccomp) refuses rt_sigaction, or returns 0 without making the call, the error is
/// [`Signal`](Refusal::Signal), in the latter case with ENOSYS. If another call is in progress for a second, it is
/// [`SignalsBusy`](Refusal::SignalsBusy).
///
/// # Faults
/// SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGSYS are refused: a thread cannot continue past a fault, so they
/// cannot be deferred.
#[derive(Clone, Copy, Debug)]
pub struct Signals(());

impl Signals {
    /// Registers a handler. Interrupted system calls are restarted if possible (SA_RESTART).
    ///
    /// # Errors
    /// [`Fault`](Refusal::Fault), [`SignalTaken`](Refusal::SignalTaken), [`Signal`](Refusal::Signal) for signals that
    /// cannot be handled, [`NoMemory`](Refusal::NoMemory).
    pub fn on(signal: i32, handler: &'static (impl Handler + Send)) -> Result<(), Refusal> {
        registry::on(signal, handler, true)
    }

    /// As [`on`](Self::on), but interrupted system calls fail with EINTR, also where the signal is only recorded.
    ///
    /// # Errors
    /// As of [`on`](Self::on).
    pub fn on_interrupting(signal: i32, handler: &'static (impl Handler + Send)) -> Result<(), Refusal> {
        registry::on(signal, handler, false)
    }

    /// Registers a handler that is leaked, or dropped where it is refused before a signal could find it. The object that contains
    /// `code` stays mapped. `restart` is as [`on`](Self::on) has it, not [`on_interrupting`](Self::on_interrupting).
    #[doc(hidden)]
    pub fn __on_boxed(
        signal: i32,
        handler: Box<dyn Handler + Send>,
        code: *const c_void,
        restart: bool,
    ) -> Result<(), Refusal> {
        registry::on_boxed(signal, handler, code, restart)
    }

    /// Registers a closure, which is leaked.
    ///
    /// # Errors
    /// As of [`on`](Self::on).
    ///
    /// # Safety
    /// The closure keeps the contract of [`Handler`]: it is async-signal-safe. A hold elsewhere does not relax this:
    /// threads without a hold are interrupted anywhere.
    pub unsafe fn call<F>(signal: i32, handler: F) -> Result<(), Refusal>
    where
        F: Fn(&Info, &Hold) + Send + Sync + 'static,
    {
        let code: fn(&Closure<F>, &Info, &Hold) = Closure::handle;
        registry::on_boxed(signal, try_box(Closure(handler))?, code as *const c_void, true)
    }

    /// Removes a handler and restores the action before it. Signals already recorded are dropped at the release.
    ///
    /// # Errors
    /// [`SignalNotOurs`](Refusal::SignalNotOurs).
    pub fn off(signal: i32) -> Result<(), Refusal> {
        registry::off(signal)
    }
}
