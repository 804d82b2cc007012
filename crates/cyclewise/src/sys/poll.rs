//! Sleeping until a descriptor is ready or a signal comes, with a mask that is in force while asleep only.
//!
//! # Safety
//! 1. The kernel reads and writes as many `pollfd` as it is told, and reads one `timespec` and one set of signals.
#![expect(unsafe_code, reason = "ppoll")]

use super::sigmask::set_of;
use crate::error::Refusal;
use core::time::Duration;

/// The kernel's `struct pollfd`.
pub(crate) type PollFd = libc::pollfd;

/// A descriptor and the events that are waited for.
pub(crate) fn poll_fd(fd: i32, events: i16) -> PollFd {
    PollFd { fd, events, revents: 0 }
}

/// How a sleep ended.
pub(crate) enum Slept {
    /// So many descriptors are ready.
    Ready(usize),
    /// A handler ran.
    Interrupted,
}

/// Sleeps with `mask` in force; for ever where there is no timeout. Zero are ready where the time is up.
///
/// # Errors
/// EINVAL for more descriptors than may be open; ENOMEM.
pub(crate) fn ppoll(fds: &mut [PollFd], timeout: Option<Duration>, mask: u64) -> Result<Slept, Refusal> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().min(i64::MAX as u64) as _,
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout
        .as_ref()
        .map_or(core::ptr::null(), |timeout| &raw const *timeout);
    let mask = set_of(mask);
    // SAFETY: Invariant 1.
    let rc = unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout, &raw const mask) };
    match (usize::try_from(rc), super::thread::errno()) {
        (Ok(ready), _) => Ok(Slept::Ready(ready)),
        (Err(_), libc::EINTR) => Ok(Slept::Interrupted),
        (Err(_), errno) => Err(Refusal::System { call: "ppoll", errno }),
    }
}
