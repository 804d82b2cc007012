//! Sleeping under a hold without missing a signal recorded just before the sleep.
//!
//! Testing [`is_pending`](super::is_pending) and then calling poll would sleep through a signal between the two: it is
//! recorded, and nothing wakes the poll. So signals are blocked in the kernel before the test, and ppoll unblocks them
//! while it sleeps: a signal before the block is seen by the test, a later one ends the sleep.
//!
//! # Cost
//! Three system calls, two of which change the mask.

use super::Hold;
use super::this_thread::thread_mask;
use crate::error::Refusal;
use crate::sys::ppoll::{PollFd, Slept, poll_fd, ppoll};
use crate::sys::signal_mask;
use core::marker::PhantomData;
use core::time::Duration;
use std::os::fd::{AsRawFd, BorrowedFd};

/// A descriptor to wait for.
///
/// # Examples
/// ```
/// use cyclewise::mask::{self, Polled, Woken};
/// use std::io::Write;
/// use std::os::fd::AsFd;
///
/// let (reader, mut writer) = std::io::pipe().unwrap();
/// writer.write_all(b"x").unwrap();
/// let hold = mask::hold();
/// let mut polled = [Polled::new(reader.as_fd(), libc::POLLIN)];
/// assert_eq!(hold.wait(&mut polled, None)?, Woken::Ready(1));
/// assert_eq!(polled[0].happened(), libc::POLLIN);
/// # Ok::<(), cyclewise::error::Refusal>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Polled<'fd> {
    inner: PollFd,
    fd: PhantomData<BorrowedFd<'fd>>,
}

impl<'fd> Polled<'fd> {
    /// Waits for these events of poll(2): `POLLIN`, `POLLOUT`, ..
    #[must_use]
    pub fn new(fd: BorrowedFd<'fd>, events: i16) -> Self {
        let inner = poll_fd(fd.as_raw_fd(), events);
        Self { inner, fd: PhantomData }
    }

    /// The events that occurred.
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
    /// This many descriptors are ready.
    Ready(usize),
    /// The time limit was reached.
    Timeout,
    /// A foreign handler ran.
    Interrupted,
}

impl Hold {
    /// Sleeps until a descriptor is ready, a signal is recorded, or the time limit is reached; returns at once if a
    /// signal is already recorded. The hold stays in force, so handlers of this crate run only when it is dropped.
    ///
    /// Not for handlers: there every signal is blocked, so none would end the sleep.
    ///
    /// # Errors
    /// Those of ppoll: EINVAL, ENOMEM. [`NoMemory`](Refusal::NoMemory) for a copy of `fds`. Those of rt_sigprocmask if a filter refuses it: then this did not sleep.
    pub fn wait(&self, fds: &mut [Polled<'_>], timeout: Option<Duration>) -> Result<Woken, Refusal> {
        // Before signals are blocked, because this may allocate.
        let mut inner = alloc::vec::Vec::new();
        inner.try_reserve_exact(fds.len()).map_err(|_| Refusal::NoMemory)?;
        inner.extend(fds.iter().map(|polled| polled.inner));
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
        // Signals that the kernel began to keep meanwhile stay blocked until the release.
        signal_mask::set(before | thread_mask().blocked());
        woken
    }
}
