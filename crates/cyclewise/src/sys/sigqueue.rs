//! A signal's information, and queueing the signal again with it: rt_tgsigqueueinfo(2).
//!
//! # Safety
//! 1. `siginfo_t` is 128 bytes aligned to 8, of which the kernel fills the first 48 and zeroes the rest.
#![expect(unsafe_code, reason = "rt_tgsigqueueinfo, a signal's information")]

use super::{errno, process, thread};
use core::ffi::{c_int, c_void};

/// The six words of a signal's information that the kernel fills.
///
/// # Safety
/// `info` is the second argument of a running handler that was installed with SA_SIGINFO.
pub(crate) unsafe fn information(info: *const c_void) -> [u64; 6] {
    // SAFETY: the caller's contract (Invariant 1).
    unsafe { info.cast::<[u64; 6]>().read() }
}

/// Queues a signal for the calling thread again, with its information.
///
/// The kernel refuses a real-time signal where the user has too many queued. This one was queued until just now, so
/// there was room; where another took it, this tries again for a second. Where a filter refuses the call, the signal is
/// sent without its information. False where that is refused too: the signal is lost.
pub(crate) fn requeue(information: &[u64; 6]) -> bool {
    const TRIES: u32 = 1000;
    const PAUSE_NS: u32 = 1_000_000;
    let mut whole = [0; 16];
    whole[..6].copy_from_slice(information);
    let signal = information[0] as c_int;
    let tid = thread::id();
    for _ in 0..TRIES {
        // SAFETY: reads one `siginfo_t` (Invariant 1).
        let rc = unsafe {
            libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                process::id(),
                tid,
                signal,
                &raw const whole,
            )
        };
        if rc == 0 {
            return true;
        }
        if errno::get() != libc::EAGAIN {
            break;
        }
        // Asleep: the thread that would make room may be of a lower priority.
        thread::sleep_ns(PAUSE_NS);
    }
    thread::send(tid, signal).is_ok()
}
