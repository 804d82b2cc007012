//! Registering handlers.
//!
//! # Safety
//! 1. What an unsafe function is promised it hands on.
#![expect(unsafe_code, reason = "a closure's promise cannot be checked")]

use super::handler::{Closure, Handler};
use super::{Hold, Info, registry};
use crate::error::Refusal;
use alloc::boxed::Box;

/// The process's handlers.
///
/// A handler registered here runs with every other one held on its thread. It interrupts whatever its thread does,
/// except under a [`hold`](super::hold()): then it runs at the release. One signal has one handler.
///
/// # Those of others
/// What was installed before is called first, at once and under holds too: it knows nothing of them, and it is given the context
/// that it expects. Its SA_RESETHAND is kept, and its SA_NOCLDSTOP and SA_NOCLDWAIT; its mask is ours, which is larger. Where it asked for the alternate stack
/// (SA_ONSTACK), so do we; otherwise handlers run on the thread's own stack, which has more room. What is installed
/// later, over ours, works as it would over anybody's: it may call ours, or silence it.
/// Handlers of others that interrupt a hold run in it. One that leaves by siglongjmp takes the signal with it: ours does not
/// run.
///
/// # Errors under a sandbox
/// A filter (seccomp) that refuses rt_sigaction, or says 0 for the kernel, is [`Signal`](Refusal::Signal), the latter with
/// ENOSYS. A call that finds another one under way for a second is [`SignalsBusy`](Refusal::SignalsBusy).
///
/// # Faults
/// SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP and SIGSYS are refused: a thread cannot go on past a fault, so they cannot wait.
#[derive(Clone, Copy, Debug)]
pub struct Signals(());

impl Signals {
    /// Registers what may be registered safely. Interrupted system calls go on (SA_RESTART), those that can.
    ///
    /// # Errors
    /// [`Fault`](Refusal::Fault), [`SignalTaken`](Refusal::SignalTaken), [`Signal`](Refusal::Signal) for numbers that
    /// cannot be handled.
    pub fn on(signal: i32, handler: &'static (impl Handler + Send)) -> Result<(), Refusal> {
        registry::on(signal, handler, true)
    }

    /// As [`on`](Self::on), and interrupted system calls fail with EINTR, recorded signals' too.
    ///
    /// # Errors
    /// As of [`on`](Self::on).
    pub fn on_interrupting(signal: i32, handler: &'static (impl Handler + Send)) -> Result<(), Refusal> {
        registry::on(signal, handler, false)
    }

    /// Registers a closure. It is leaked.
    ///
    /// # Errors
    /// As of [`on`](Self::on).
    ///
    /// # Safety
    /// The closure keeps the contract of [`Handler`]: it does nothing that may not be done between any two instructions
    /// of any thread. A hold does not help: who holds nothing is interrupted anywhere.
    pub unsafe fn call<F>(signal: i32, handler: F) -> Result<(), Refusal>
    where
        F: Fn(&Info, &Hold) + Send + Sync + 'static,
    {
        registry::on(signal, Box::leak(Box::new(Closure(handler))), true)
    }

    /// Takes a handler off, and puts back what was there before. What is recorded already is dropped at its release.
    ///
    /// # Errors
    /// [`SignalNotOurs`](Refusal::SignalNotOurs).
    pub fn off(signal: i32) -> Result<(), Refusal> {
        registry::off(signal)
    }
}
