//! ppoll(2): sleeping until a descriptor is ready or a signal comes, with another signal mask meanwhile.
//!
//! # Safety
//! 1. The kernel reads and writes as many `pollfd` as are passed, and reads one `timespec` and one set of signals.
#![expect(unsafe_code, reason = "ppoll")]

use super::cancellation::held_off;
use super::failed;
use super::signal_mask::set_of;
use crate::error::Refusal;
use core::time::Duration;

/// The kernel's `struct pollfd`.
pub(crate) type PollFd = libc::pollfd;

/// A descriptor and the events to wait for.
pub(crate) fn poll_fd(fd: i32, events: i16) -> PollFd {
    PollFd { fd, events, revents: 0 }
}

/// How a sleep ended.
pub(crate) enum Slept {
    /// This many descriptors are ready.
    Ready(usize),
    /// A handler ran.
    Interrupted,
}

/// Sleeps with `mask` in force, for ever without a timeout. `Ready(0)` after the timeout.
///
/// # Errors
/// EINVAL for more descriptors than may be open; ENOMEM.
pub(crate) fn ppoll(fds: &mut [PollFd], timeout: Option<Duration>, mask: u64) -> Result<Slept, Refusal> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(i64::MAX as u64) as _,
        tv_nsec: timeout.subsec_nanos() as _,
    });
    let timeout = timeout
        .as_ref()
        .map_or(core::ptr::null(), |timeout| &raw const *timeout);
    let mask = set_of(mask);
    // SAFETY: Invariant 1.
    let rc = held_off(|| unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout, &raw const mask) });
    match usize::try_from(rc).map_err(|_| failed("ppoll")) {
        Ok(ready) => Ok(Slept::Ready(ready)),
        Err(Refusal::System { errno: libc::EINTR, .. }) => Ok(Slept::Interrupted),
        Err(refusal) => Err(refusal),
    }
}
