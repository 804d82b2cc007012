//! The calling thread's kernel mask, as a set of bits, and what can be asked of a frame that a signal made.
//!
//! # Safety
//! 1. On 64-bit Linux the kernel's set is 64 bits, bit 0 for signal 1, and the first word of C's `sigset_t`, whichever
//!    C library: the kernel reads it there.
//! 2. The kernel reads or writes one set.
//! 3. `siginfo_t` is 128 bytes aligned to 8, of which the kernel fills the first 48 and zeroes the rest.
#![expect(unsafe_code, reason = "pthread_sigmask, ppoll, rt_tgsigqueueinfo, a frame's mask")]

use crate::error::Refusal;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;

/// What may be blocked: all but the faults, which the thread cannot run past, and SIGSYS, which is one where a filter
/// sends it. The C library keeps its own two to itself, and the kernel SIGKILL and SIGSTOP.
pub(crate) const MASKABLE: u64 = !(of(libc::SIGILL)
    | of(libc::SIGTRAP)
    | of(libc::SIGBUS)
    | of(libc::SIGFPE)
    | of(libc::SIGSEGV)
    | of(libc::SIGSYS)
    | of(libc::SIGKILL)
    | of(libc::SIGSTOP));

const fn of(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// A set of C's from bits.
pub(super) fn set_of(bits: u64) -> libc::sigset_t {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: the first word of the set (Invariant 1).
    unsafe { set.as_mut_ptr().cast::<u64>().write(bits) };
    // SAFETY: any bits are a set.
    unsafe { set.assume_init() }
}

fn bits_of(set: &libc::sigset_t) -> u64 {
    // SAFETY: the first word of the set (Invariant 1).
    unsafe { (&raw const *set).cast::<u64>().read() }
}

/// What was blocked before.
fn change(how: c_int, bits: u64) -> Result<u64, Refusal> {
    let set = set_of(bits);
    // SIGKILL is in no mask: where it is in this one afterwards, the kernel has not written it.
    let mut old = set_of(u64::MAX);
    // SAFETY: reads one set and writes one, both ours (Invariant 2).
    let errno = match unsafe { libc::pthread_sigmask(how, &raw const set, &raw mut old) } {
        0 if bits_of(&old) & of(libc::SIGKILL) != 0 => libc::ENOSYS,
        0 => return Ok(bits_of(&old)),
        errno => errno,
    };
    Err(Refusal::System {
        call: "rt_sigprocmask",
        errno,
    })
}

/// Blocks what can be blocked; what was blocked before.
///
/// # Errors
/// A filter's (seccomp); the kernel does not refuse. ENOSYS where the filter said 0. Nothing was blocked then, and what
/// was before is not known.
pub(crate) fn block_all() -> Result<u64, Refusal> {
    change(libc::SIG_BLOCK, MASKABLE)
}

/// Unblocks these. What is pending of them is delivered before this returns. Where a filter refuses that, they stay blocked.
pub(crate) fn unblock(bits: u64) {
    let _ = change(libc::SIG_UNBLOCK, bits);
}

/// Blocks these and no others. Where a filter refuses that, the mask stays as it is.
pub(crate) fn set(bits: u64) {
    let _ = change(libc::SIG_SETMASK, bits);
}

/// What the end of a frame will leave blocked.
///
/// # Safety
/// `context` is the third argument of a running handler that was installed with SA_SIGINFO, or that argument handed on.
pub(crate) unsafe fn frame_mask(context: *mut c_void) -> u64 {
    // SAFETY: the caller's contract.
    let mask = unsafe { &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask };
    // SAFETY: the kernel's set (Invariant 1).
    unsafe { mask.cast::<u64>().read() }
}

/// Changes what the end of a frame will leave blocked.
///
/// # Safety
/// `context` is the third argument of a running handler that was installed with SA_SIGINFO, or that argument handed on.
pub(crate) unsafe fn set_frame_mask(context: *mut c_void, bits: u64) {
    // SAFETY: the caller's contract.
    let mask = unsafe { &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask };
    // SAFETY: the kernel's set (Invariant 1).
    unsafe { mask.cast::<u64>().write(bits) };
}

/// The six words of a signal's information that the kernel fills.
///
/// # Safety
/// `info` is the second argument of a running handler that was installed with SA_SIGINFO.
pub(crate) unsafe fn information(info: *const c_void) -> [u64; 6] {
    // SAFETY: the caller's contract (Invariant 3).
    unsafe { info.cast::<[u64; 6]>().read() }
}

/// Queues a signal for the calling thread again, with its information.
///
/// The kernel refuses a real-time signal where the user has too many queued. This one was queued until just now, so
/// there was room; where another took it, waits for somebody to give some back, for a second. Where a filter refuses the
/// call, the signal is sent without its information. False where that is refused too: the signal is lost.
pub(crate) fn requeue(information: &[u64; 6]) -> bool {
    const TRIES: u32 = 1000;
    const PAUSE_NS: u64 = 1_000_000;
    let mut whole = [0; 16];
    whole[..6].copy_from_slice(information);
    let signal = information[0] as c_int;
    // SAFETY: takes nothing and returns a number.
    let process = unsafe { libc::getpid() };
    let thread = super::task::current_tid();
    for _ in 0..TRIES {
        // SAFETY: reads one `siginfo_t` (Invariant 3).
        let rc = unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, &raw const whole) };
        if rc == 0 {
            return true;
        }
        if super::thread::errno() != libc::EAGAIN {
            break;
        }
        // Asleep: who would give some back may be of a lower priority.
        pause(PAUSE_NS);
    }
    // SAFETY: takes numbers.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) == 0 }
}

#[cfg(not(loom))]
fn pause(ns: u64) {
    use super::futex::{Moment, wait};
    wait(&raw const NOBODY, 0, Some(Moment::after_ns(ns)));
}

/// A word that nobody changes, to sleep on.
#[cfg(not(loom))]
static NOBODY: u32 = 0;

#[cfg(loom)]
fn pause(_: u64) {
    super::task::nap();
}
