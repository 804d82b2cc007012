//! sigaction(2): a signal's handler, and calling the one that was installed before.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigaction`.
//! 2. SA_SIGINFO in the flags gives the type of a function that sigaction returned.
#![expect(unsafe_code, reason = "sigaction, and calls of the handlers it returned")]

use super::errno;
use super::signal_mask::{MASKABLE, set_of};
use crate::error::Refusal;
use core::ffi::{c_int, c_void};

/// A handler that was installed with SA_SIGINFO.
pub(crate) type Function = extern "C" fn(c_int, *mut c_void, *mut c_void);

/// A disposition, as the kernel has it.
#[derive(Clone, Copy)]
pub(crate) struct Action(pub(super) libc::sigaction);

impl Action {
    /// This crate's: blocks all that can be blocked, runs on the thread's alternate stack where it has one, and has SA_RESTART where
    /// `restart`. What is reported of children is as in `before`.
    pub(crate) fn ours(function: Function, restart: bool, before: &Self) -> Self {
        const KEPT: c_int = libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
        let restart = if restart { libc::SA_RESTART } else { 0 };
        Self(libc::sigaction {
            sa_sigaction: function as usize,
            sa_mask: set_of(MASKABLE),
            // The interrupted stack may be a goroutine's or a coroutine's, without room for a frame.
            sa_flags: libc::SA_SIGINFO | libc::SA_ONSTACK | (before.0.sa_flags & KEPT) | restart,
            sa_restorer: None,
        })
    }

    /// SIG_DFL.
    pub(crate) fn default() -> Self {
        Self(libc::sigaction {
            sa_sigaction: libc::SIG_DFL,
            sa_mask: set_of(0),
            sa_flags: 0,
            sa_restorer: None,
        })
    }

    pub(crate) fn is(&self, function: Function) -> bool {
        self.0.sa_sigaction == function as usize
    }

    /// Whether both have the same handler, or both none.
    pub(crate) fn has_handler_of(&self, other: &Self) -> bool {
        self.0.sa_sigaction == other.0.sa_sigaction
    }

    /// Whether there is a handler: neither SIG_DFL nor SIG_IGN.
    pub(crate) fn is_function(&self) -> bool {
        self.0.sa_sigaction != libc::SIG_DFL && self.0.sa_sigaction != libc::SIG_IGN
    }

    /// Whether the kernel calls the handler once only.
    pub(crate) fn is_once(&self) -> bool {
        self.0.sa_flags & libc::SA_RESETHAND != 0
    }

    /// Calls the handler.
    ///
    /// # Safety
    /// It is a function, which is still loaded, and the arguments are those of a handler that runs for such a signal.
    pub(crate) unsafe fn call(&self, signal: c_int, info: *mut c_void, context: *mut c_void) {
        if self.0.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: sigaction gave the address with SA_SIGINFO (Invariant 2), and the caller guarantees that it is a function.
            let function = unsafe { core::mem::transmute::<usize, Function>(self.0.sa_sigaction) };
            function(signal, info, context);
        } else {
            // SAFETY: sigaction gave the address without SA_SIGINFO (Invariant 2), and the caller guarantees that it is a function.
            let function = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(self.0.sa_sigaction) };
            function(signal);
        }
    }
}

/// What handles the signal now.
///
/// # Errors
/// EINVAL for a number that is no signal's, or is the C library's own. ENOSYS where a filter (seccomp) answers 0.
pub(crate) fn current(signal: c_int) -> Result<Action, Refusal> {
    if !is_answered(signal) {
        let errno = libc::ENOSYS;
        return Err(Refusal::Signal { signal, errno });
    }
    swap(signal, core::ptr::null())
}

/// Whether the kernel answers. Where it does not, C's function copies memory that nobody has initialized, and an address from
/// there would be called.
fn is_answered(signal: c_int) -> bool {
    const NOT_WRITTEN: u64 = u64::MAX;
    // The kernel's `struct sigaction` on 64-bit: the function, the flags, the restorer, the set. No function has this address.
    let mut old = [NOT_WRITTEN; 4];
    let asks = core::ptr::null::<c_void>();
    // SAFETY: null only asks; the kernel writes 32 bytes at most, and of the set no more than the size that is passed.
    let rc = unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, asks, old.as_mut_ptr(), size_of::<u64>()) };
    // Where the kernel refuses, C's function returns why.
    rc != 0 || old[0] != NOT_WRITTEN
}

/// Installs it; returns the one before.
///
/// # Errors
/// EINVAL for a number that is no signal's, is the C library's own, or cannot be handled.
pub(crate) fn install(signal: c_int, action: &Action) -> Result<Action, Refusal> {
    swap(signal, &raw const action.0)
}

fn swap(signal: c_int, new: *const libc::sigaction) -> Result<Action, Refusal> {
    let mut old = Action::default().0;
    // SAFETY: Invariant 1; null only asks.
    let rc = unsafe { libc::sigaction(signal, new, &raw mut old) };
    if rc == 0 {
        return Ok(Action(old));
    }
    let errno = errno::get();
    Err(Refusal::Signal { signal, errno })
}
