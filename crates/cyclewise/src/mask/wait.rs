//! Sleeping under a hold, so that a signal that was recorded just before the sleep ends it.
//!
//! A look at [`is_pending`](super::is_pending) and then a poll would sleep through a signal that comes between the two:
//! it is recorded, and nothing wakes the poll. So the kernel's mask is set before the look, and ppoll lifts it while it
//! sleeps: a signal comes before the mask, and the look sees it; or after, and the sleep ends.
//!
//! # Cost
//! Three system calls, two of which change the mask.

use super::Hold;
use super::hold::thread_mask;
use crate::error::Refusal;
use crate::sys::ppoll::{PollFd, Slept, poll_fd, ppoll};
use crate::sys::signal_mask;
use core::marker::PhantomData;
use core::time::Duration;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A descriptor to wait for.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Polled<'fd> {
    inner: PollFd,
    fd: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> Polled<'fd> {
    /// Waits for these events, as poll(2) has them: `POLLIN`, `POLLOUT`, ..
    #[must_use]
    pub fn new(fd: BorrowedFd<'fd>, events: i16) -> Self {
        let inner = poll_fd(fd.as_raw_fd(), events);
        Self { inner, fd: PhantomData }
    }

    /// What has happened.
    #[must_use]
    pub fn happened(&self) -> i16 {
        self.inner.revents
    }
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// A signal is recorded; its handler runs at the release.
    Signal,
    /// So many descriptors are ready.
    Ready(usize),
    /// The time is up.
    Timeout,
    /// Another's handler ran.
    Interrupted,
}

impl Hold {
    /// Sleeps until a descriptor is ready, a signal is recorded, or the time is up; at once where one is recorded already.
    /// No handler of ours runs in it, for the hold stays in force: drop it, and they do.
    ///
    /// Not for handlers: in a frame of the kernel's every signal is blocked, and none would end the sleep.
    ///
    /// # Errors
    /// What ppoll says: EINVAL, ENOMEM. What rt_sigprocmask says where a filter refuses it: then it has not slept.
    pub fn wait(&self, fds: &mut [Polled<'_>], timeout: Option<Duration>) -> Result<Woken, Refusal> {
        // Before signals are blocked: it may allocate.
        let mut inner: alloc::vec::Vec<_> = fds.iter().map(|polled| polled.inner).collect();
        let before = signal_mask::block()?;
        let woken = if thread_mask().is_pending() {
            Ok(Woken::Signal)
        } else {
            let slept = ppoll(&mut inner, timeout, before);
            for (polled, inner) in fds.iter_mut().zip(&inner) {
                polled.inner = *inner;
            }
            slept.map(|slept| match slept {
                _ if thread_mask().is_pending() => Woken::Signal,
                Slept::Ready(0) => Woken::Timeout,
                Slept::Ready(ready) => Woken::Ready(ready),
                Slept::Interrupted => Woken::Interrupted,
            })
        };
        // What the kernel has been asked to keep meanwhile it goes on keeping until the release.
        signal_mask::set(before | thread_mask().blocked());
        woken
    }
}
