//! Signals of the calling thread, held back for a while.
//!
//! # A call that is not made
//! A seccomp filter can refuse to change the mask, or only say that it went well. Then handlers go on to run, and whoever
//! counts on the contrary has to know: no mask holds SIGKILL, so one that does was not written by the kernel.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigset_t` or `sigaction` whose size C's library knows.
#![expect(
    unsafe_code,
    reason = "sigfillset, sigdelset, sigismember, pthread_sigmask, sigaction"
)]

use crate::error::Refusal;
use core::mem::MaybeUninit;

/// What a thread raises by what it does itself. It cannot run past a fault, and SIGSYS is how a filter hands on a call, which a
/// handler may make in its place.
const ITS_OWN: [libc::c_int; 6] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// While this lives no handler of what it blocks runs on this thread, and on drop the old mask is back.
///
/// What is left in any case are SIGKILL, SIGSTOP, faults, and the two signals with which C's library cancels threads and
/// sets ids.
pub(crate) struct Blocked(libc::sigset_t);

impl Blocked {
    /// Blocks all; a fault ends the process then.
    ///
    /// # Errors
    /// A filter's; the kernel does not refuse. ENOSYS where the filter said that it went well.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn all() -> Result<Self, Refusal> {
        Self::of(&full())
    }

    /// Blocks all but those that the thread raises by what it does itself.
    ///
    /// # Errors
    /// As [`all`](Self::all).
    pub(crate) fn of_others() -> Result<Self, Refusal> {
        let mut set = full();
        for signal in ITS_OWN {
            // SAFETY: a valid set of ours (Invariant 1), and the number of a signal.
            unsafe { libc::sigdelset(&raw mut set, signal) };
        }
        Self::of(&set)
    }

    fn of(set: &libc::sigset_t) -> Result<Self, Refusal> {
        let mut old = full();
        // SAFETY: reads one set and writes one, both ours (Invariant 1).
        let errno = match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const *set, &raw mut old) } {
            // SAFETY: a valid set of ours (Invariant 1), and the number of a signal.
            0 if unsafe { libc::sigismember(&raw const old, libc::SIGKILL) } != 0 => libc::ENOSYS,
            0 => return Ok(Self(old)),
            errno => errno,
        };
        Err(Refusal::System {
            call: "rt_sigprocmask",
            errno,
        })
    }
}

/// Every signal, SIGKILL among them.
fn full() -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: writes one set of ours (Invariant 1).
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    // SAFETY: all zeroes is a valid, empty set, and it was filled.
    unsafe { set.assume_init() }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: reads one set of ours, and writes none (Invariant 1).
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, core::ptr::null_mut()) };
    }
}

/// Sets a handler, for tests.
#[cfg(all(test, feature = "std", target_arch = "x86_64", target_os = "linux", not(loom)))]
pub(crate) fn handle(signal: i32, handler: extern "C" fn(i32)) {
    let action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeroes is a valid structure.
    let mut action = unsafe { action.assume_init() };
    action.sa_sigaction = handler as *const () as usize;
    // SAFETY: Invariant 1; a function lives as long as the program.
    let rc = unsafe { libc::sigaction(signal, &raw const action, core::ptr::null_mut()) };
    assert_eq!(rc, 0);
}
