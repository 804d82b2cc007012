//! The calling thread's signal mask, and the one in a signal frame.
//!
//! # A call that is not made
//! A seccomp filter can refuse to change the mask, or answer 0. Then handlers go on to run, and the caller has to know: no
//! mask holds SIGKILL, so one that does was not written by the kernel.
//!
//! # A load that may fault
//! rt_sigprocmask(2) copies its set before it looks at what to do with it. So with something that it does not know, it says whether the
//! calling thread can load from an address ([`reads`]), by the page's protection and by its protection key. Where LOCK is restored a
//! sandbox may allow no call but this one.
//!
//! # Safety
//! 1. The kernel reads or writes one `sigset_t`, whose size C's library knows.
//! 2. On 64-bit Linux the kernel's set is 64 bits, bit 0 for signal 1, and the first word of C's `sigset_t`, whichever
//!    C library: the kernel reads it there.
//! 3. Asked for what there is not, the kernel reads 8 bytes, or fails, and changes nothing (`sigprocmask` in kernel/signal.c).
#![expect(
    unsafe_code,
    reason = "sigfillset, sigdelset, sigismember, pthread_sigmask, rt_sigprocmask, a frame's mask"
)]

use super::errno::{self, preserve};
use crate::error::Refusal;
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use libc::sigset_t;

/// Signals that a thread raises by what it does itself. It cannot run past a fault, and SIGSYS is how a filter hands on a
/// call, which a handler may make in its place.
const FAULTS: [c_int; 6] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// What [`block`] blocks: all but the faults, SIGKILL and SIGSTOP. The C library keeps its own two to itself.
pub(crate) const MASKABLE: u64 = {
    let mut bits = !(bit(libc::SIGKILL) | bit(libc::SIGSTOP));
    let mut at = 0;
    while at < FAULTS.len() {
        bits &= !bit(FAULTS[at]);
        at += 1;
    }
    bits
};

const fn bit(signal: c_int) -> u64 {
    1 << (signal - 1)
}

/// Blocks signals while it lives, and restores the old mask on drop.
///
/// SIGKILL, SIGSTOP, faults of the kernel's, and the two signals by which C's library cancels threads and sets ids are never
/// blocked.
pub(crate) struct BlockedSignals(sigset_t);

/// Blocks all signals but the faults.
///
/// # Errors
/// A filter's; the kernel does not refuse. ENOSYS where the filter answers 0.
pub(crate) fn block_signals() -> Result<BlockedSignals, Refusal> {
    change(libc::SIG_BLOCK, &all_but_faults()).map(BlockedSignals)
}

/// Blocks the faults too; a fault then ends the process.
///
/// # Errors
/// As [`block_signals`].
pub(crate) fn block_signals_and_faults() -> Result<BlockedSignals, Refusal> {
    change(libc::SIG_BLOCK, &all()).map(BlockedSignals)
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        let _ = change(libc::SIG_SETMASK, &self.0);
    }
}

/// Blocks what [`block_signals`] blocks; returns what was blocked before.
///
/// # Errors
/// As [`block_signals`]. Nothing was blocked then.
pub(crate) fn block() -> Result<u64, Refusal> {
    change(libc::SIG_BLOCK, &all_but_faults()).map(|old| bits_of(&old))
}

/// Unblocks these. Those that are pending are delivered before this returns. Where a filter refuses, they stay blocked.
pub(crate) fn unblock(bits: u64) {
    let _ = change(libc::SIG_UNBLOCK, &set_of(bits));
}

/// Blocks these and no others. Where a filter refuses, the mask stays as it is.
pub(crate) fn set(bits: u64) {
    let _ = change(libc::SIG_SETMASK, &set_of(bits));
}

/// Changes the mask; returns the old one.
pub(super) fn change(how: c_int, set: &sigset_t) -> Result<sigset_t, Refusal> {
    let mut old = all();
    // SAFETY: reads one set and writes one (Invariant 1).
    let errno = match unsafe { libc::pthread_sigmask(how, &raw const *set, &raw mut old) } {
        // SAFETY: a valid set (Invariant 1), and the number of a signal.
        0 if unsafe { libc::sigismember(&raw const old, libc::SIGKILL) } != 0 => libc::ENOSYS,
        0 => return Ok(old),
        errno => errno,
    };
    Err(Refusal::System {
        call: "rt_sigprocmask",
        errno,
    })
}

/// Whether the calling thread can load 8 bytes from an address. True where a filter answers in the kernel's place.
pub(crate) fn reads(address: usize) -> bool {
    const NOTHING_KNOWN: c_int = -1;
    let old = core::ptr::null_mut::<c_void>();
    preserve(|| {
        // SAFETY: the kernel reads or fails, and changes nothing (Invariant 3).
        let rc = unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NOTHING_KNOWN, address, old, 8_usize) };
        rc == 0 || errno::get() != libc::EFAULT
    })
}

/// Every signal but the C library's own.
fn all() -> sigset_t {
    let mut set = MaybeUninit::<sigset_t>::zeroed();
    // SAFETY: writes one set (Invariant 1).
    unsafe { libc::sigfillset(set.as_mut_ptr()) };
    // SAFETY: all zeroes is a valid, empty set, and it was filled.
    unsafe { set.assume_init() }
}

fn all_but_faults() -> sigset_t {
    let mut set = all();
    for signal in FAULTS {
        // SAFETY: a valid set (Invariant 1), and the number of a signal.
        unsafe { libc::sigdelset(&raw mut set, signal) };
    }
    set
}

/// C's set of these bits.
pub(super) fn set_of(bits: u64) -> sigset_t {
    let mut set = MaybeUninit::<sigset_t>::zeroed();
    // SAFETY: the first word of the set (Invariant 2).
    unsafe { set.as_mut_ptr().cast::<u64>().write(bits) };
    // SAFETY: any bits are a set.
    unsafe { set.assume_init() }
}

pub(super) fn bits_of(set: &sigset_t) -> u64 {
    // SAFETY: the first word of the set (Invariant 2).
    unsafe { (&raw const *set).cast::<u64>().read() }
}

/// What the end of a signal frame will leave blocked.
///
/// # Safety
/// `context` is the third argument of a running handler that was installed with SA_SIGINFO, or that argument handed on.
pub(crate) unsafe fn frame_mask(context: *mut c_void) -> u64 {
    // SAFETY: the caller's contract.
    let mask = unsafe { &raw const (*context.cast::<libc::ucontext_t>()).uc_sigmask };
    // SAFETY: the kernel's set (Invariant 2).
    unsafe { mask.cast::<u64>().read() }
}

/// Changes what the end of a signal frame will leave blocked.
///
/// # Safety
/// As of [`frame_mask`].
pub(crate) unsafe fn set_frame_mask(context: *mut c_void, bits: u64) {
    // SAFETY: the caller's contract.
    let mask = unsafe { &raw mut (*context.cast::<libc::ucontext_t>()).uc_sigmask };
    // SAFETY: the kernel's set (Invariant 2).
    unsafe { mask.cast::<u64>().write(bits) };
}
