//! Who handles a signal of this process: installing a handler, finding who was there, and calling them.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigaction`.
//! 2. A function that sigaction gave is of the type that SA_SIGINFO in its flags says.
#![expect(unsafe_code, reason = "sigaction, and calls of handlers that it gave")]

use super::sigmask::{MASKABLE, set_of};
use crate::error::Refusal;
use core::ffi::{c_int, c_void};

/// A handler that is told everything.
pub(crate) type Function = extern "C" fn(c_int, *mut c_void, *mut c_void);

/// A disposition, as the kernel has it.
#[derive(Clone, Copy)]
pub(crate) struct Action(libc::sigaction);

impl Action {
    /// Our own: with all blocked that can be; on the alternate stack where `before` was, and of children's ends what that was
    /// told of; interrupted system calls go on afterwards where `restart` says so and the call is one of those that can.
    pub(crate) fn ours(function: Function, restart: bool, before: &Self) -> Self {
        const KEPT: c_int = libc::SA_ONSTACK | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
        let restart = if restart { libc::SA_RESTART } else { 0 };
        Self(libc::sigaction {
            sa_sigaction: function as usize,
            sa_mask: set_of(MASKABLE),
            sa_flags: libc::SA_SIGINFO | (before.0.sa_flags & KEPT) | restart,
            sa_restorer: None,
        })
    }

    /// The kernel's own.
    pub(crate) fn default() -> Self {
        Self(libc::sigaction {
            sa_sigaction: libc::SIG_DFL,
            sa_mask: set_of(0),
            sa_flags: 0,
            sa_restorer: None,
        })
    }

    /// Whether this is `function`.
    pub(crate) fn is(&self, function: Function) -> bool {
        self.0.sa_sigaction == function as usize
    }

    /// Whether it is somebody's function, and not the default or to be ignored.
    pub(crate) fn is_function(&self) -> bool {
        self.0.sa_sigaction != libc::SIG_DFL && self.0.sa_sigaction != libc::SIG_IGN
    }

    /// Whether the kernel would have called it once only.
    pub(crate) fn is_once(&self) -> bool {
        self.0.sa_flags & libc::SA_RESETHAND != 0
    }

    /// Calls it.
    ///
    /// # Safety
    /// It is a function, which is still there, and the arguments are those of a handler that runs for such a signal.
    pub(crate) unsafe fn call(&self, signal: c_int, info: *mut c_void, context: *mut c_void) {
        if self.0.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: sigaction gave the address with SA_SIGINFO (Invariant 2), and the caller says that it is a function.
            let function = unsafe { core::mem::transmute::<usize, Function>(self.0.sa_sigaction) };
            function(signal, info, context);
        } else {
            // SAFETY: sigaction gave the address without SA_SIGINFO (Invariant 2), and the caller says that it is a function.
            let function = unsafe { core::mem::transmute::<usize, extern "C" fn(c_int)>(self.0.sa_sigaction) };
            function(signal);
        }
    }
}

/// What handles the signal now.
///
/// # Errors
/// EINVAL for a number that is no signal's, or is the C library's own. ENOSYS where a filter (seccomp) says 0 for the kernel.
pub(crate) fn current(signal: c_int) -> Result<Action, Refusal> {
    if !is_answered(signal) {
        let errno = libc::ENOSYS;
        return Err(Refusal::Signal { signal, errno });
    }
    swap(signal, core::ptr::null())
}

/// Whether the kernel answers. C's function copies what the kernel should have written from memory that it has not
/// initialized, and an address from there would be called.
fn is_answered(signal: c_int) -> bool {
    const NOT_WRITTEN: u64 = u64::MAX;
    // `struct sigaction` of the kernel on 64-bit: the function, the flags, the restorer, the set. No function is there.
    let mut old = [NOT_WRITTEN; 4];
    let asks = core::ptr::null::<c_void>();
    // SAFETY: null asks only; the kernel writes 32 bytes at most, and no more set than the size that it is told.
    let rc = unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, asks, old.as_mut_ptr(), size_of::<u64>()) };
    // Where it refuses, C's function says why.
    rc != 0 || old[0] != NOT_WRITTEN
}

/// Installs it; what was there before.
///
/// # Errors
/// EINVAL for a number that is no signal's, is the C library's own, or cannot be handled.
pub(crate) fn install(signal: c_int, action: &Action) -> Result<Action, Refusal> {
    swap(signal, &raw const action.0)
}

fn swap(signal: c_int, new: *const libc::sigaction) -> Result<Action, Refusal> {
    let mut old = Action::default().0;
    // SAFETY: Invariant 1; null asks only.
    let rc = unsafe { libc::sigaction(signal, new, &raw mut old) };
    if rc == 0 {
        return Ok(Action(old));
    }
    let errno = super::thread::errno();
    Err(Refusal::Signal { signal, errno })
}
