//! The soft mask: what <cyclewise/mask.h> calls where its two stores do not suffice.
//!
//! # States
//! The header's hold stores 1 to the thread's `depth` if it was 0, and its release stores 0 if it was 1 and then looks at
//! `pending`: the protocol of `mask/thread_mask.rs`, whose words are at a constant distance from the thread pointer. Each other case
//! is a call.
//!
//! # Safety
//! 1. Each name that is exported (`no_mangle`) begins with `cw_`, as of no other library.
//! 2. Each release matches a hold.
#![expect(unsafe_code, reason = "functions under names of their own")]

use crate::memory::give;
use crate::refusal::{Refused, answer, cw_refusal};
use crate::sys::errno;
use core::ffi::{c_int, c_short};
use core::mem::{ManuallyDrop, forget};
use core::ptr::NonNull;
use core::slice;
use core::time::Duration;
use cyclewise::error::Refusal;
use cyclewise::mask::{self, Hold, Polled, Woken};
use std::os::fd::BorrowedFd;
use std::vec::Vec;

/// Why cw_mask_poll ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum cw_mask_woken {
    /// A signal is recorded; its handler runs at the release.
    CW_MASK_SIGNAL = 0,
    /// Descriptors are ready.
    CW_MASK_READY = 1,
    /// The time has passed.
    CW_MASK_TIMEOUT = 2,
    /// A handler ran that is not the library's.
    CW_MASK_INTERRUPTED = 3,
}

/// poll(2)'s `struct pollfd`.
#[repr(C)]
pub struct pollfd {
    /// The descriptor.
    pub fd: c_int,
    /// What is waited for.
    pub events: c_short,
    /// What has happened.
    pub revents: c_short,
}

/// The distance of a thread's mask from its thread pointer, for the inline functions in <cyclewise/mask.h>; 0 where it is not the
/// same for all threads, and where the mask is laid out otherwise than as `layout` says.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_mask_offset(layout: c_int) -> isize {
    // Version 1: two words of 32 bits, `depth` and `pending`.
    if layout == 1 { mask::__offset().unwrap_or(0) } else { 0 }
}

/// Adds a hold.
#[unsafe(no_mangle)]
pub extern "C" fn cw_mask_hold_called() {
    forget(mask::hold());
}

/// Removes a hold; runs the handlers of recorded signals if it was the last.
///
/// # Safety
/// Safety 2.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_mask_release_called() {
    // SAFETY: a hold has no bytes; it stands for the caller's, and is dropped once (Safety 2). Without one nothing happens.
    drop(unsafe { NonNull::<Hold>::dangling().read() });
}

const _: () = assert!(size_of::<Hold>() == 0);

/// Runs the handlers of recorded signals; the thread holds nothing.
#[unsafe(no_mangle)]
pub extern "C" fn cw_mask_replay() {
    drop(mask::hold());
}

/// Sleeps, under a hold, until a descriptor is ready, a signal is recorded, or `timeout_ns` nanoseconds have passed; -1 for no limit.
/// Returns at once if a signal is already recorded, which no test before a poll(2) ensures. The handlers run at the release.
/// `polled` are poll(2)'s, and a negative descriptor is left out. Not for handlers. No cancellation point: pthread_cancel(3) does not end
/// the sleep, a signal does.
///
/// Returns 0 and sets `*woken` to an enum cw_mask_woken and `*ready` to the number of descriptors, or why it did not sleep.
/// CW_REFUSED_ARGUMENT without a hold, or without an array.
///
/// # Safety
/// As many `pollfd` as `count` says, or null; `woken`, `ready` and `why` are null or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cw_mask_poll(
    polled: *mut pollfd,
    count: usize,
    timeout_ns: i64,
    woken: *mut c_int,
    ready: *mut usize,
    why: *mut cw_refusal,
) -> c_int {
    let _errno = errno::keep();
    let fds: &mut [pollfd] = match count {
        0 => &mut [],
        _ if polled.is_null() => {
            let refused = Refused::Argument("cw_mask_poll is given a count of descriptors and no array of them");
            // SAFETY: guaranteed by the caller.
            return unsafe { answer(Err::<(), _>(refused), why) };
        }
        // SAFETY: guaranteed by the caller.
        count => unsafe { slice::from_raw_parts_mut(polled, count) },
    };
    match wait(fds, timeout_ns) {
        Ok(found) => {
            let (reason, number) = match found {
                Woken::Signal => (cw_mask_woken::CW_MASK_SIGNAL, 0),
                Woken::Ready(number) => (cw_mask_woken::CW_MASK_READY, number),
                Woken::Timeout => (cw_mask_woken::CW_MASK_TIMEOUT, 0),
                Woken::Interrupted => (cw_mask_woken::CW_MASK_INTERRUPTED, 0),
            };
            // SAFETY: guaranteed by the caller.
            unsafe { give(woken, reason as c_int) };
            // SAFETY: guaranteed by the caller.
            unsafe { give(ready, number) };
            0
        }
        // SAFETY: guaranteed by the caller.
        Err(refused) => unsafe { answer(Err::<(), _>(refused), why) },
    }
}

fn wait(fds: &mut [pollfd], timeout_ns: i64) -> Result<Woken, Refused> {
    if !mask::is_held() {
        return Err(Refused::Argument(
            "cw_mask_poll is called without a hold; call cw_mask_hold before",
        ));
    }
    let mut polled = Vec::new();
    if polled.try_reserve_exact(fds.len()).is_err() {
        return Err(Refusal::NoMemory.into());
    }
    for fd in fds.iter_mut() {
        fd.revents = 0;
        if fd.fd >= 0 {
            // SAFETY: not -1; poll(2) is told of it for the time of this call, and says where it is not open.
            polled.push(Polled::new(unsafe { BorrowedFd::borrow_raw(fd.fd) }, fd.events));
        }
    }
    let timeout = u64::try_from(timeout_ns).ok().map(Duration::from_nanos);
    // SAFETY: a hold has no bytes; the thread is held, and this one is not dropped.
    let hold = ManuallyDrop::new(unsafe { NonNull::<Hold>::dangling().read() });
    let woken = hold.wait(&mut polled, timeout)?;
    let happened = fds.iter_mut().filter(|fd| fd.fd >= 0).zip(&polled);
    happened.for_each(|(fd, polled)| fd.revents = polled.happened());
    Ok(woken)
}

/// How often the calling thread ran out of room for records, so that the kernel kept further signals until the release.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_mask_overflows() -> u64 {
    mask::overflows()
}

/// How many signals of the calling thread were lost: its room for records and the kernel's queue were full.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_mask_lost() -> u64 {
    mask::lost()
}

/// Whether the calling thread is held.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_mask_is_held_called() -> bool {
    mask::is_held()
}

/// Whether a recorded signal waits for the calling thread's release.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn cw_mask_is_pending_called() -> bool {
    mask::is_pending()
}
