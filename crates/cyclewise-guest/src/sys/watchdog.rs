//! A timer whose signal interrupts this thread's KVM_RUN: what ends a guest that does not end by itself.
//!
//! A signal between the check of the deadline and the call would be lost, so the timer repeats every [`AGAIN`] until it is stopped.
//!
//! # Invariants
//! 1. The timer is this thread's, and its handler does nothing: a system call that is interrupted returns EINTR.
//!
//! # Safety
//! The handler is empty. The timer is deleted when the owner is dropped.
#![expect(unsafe_code, reason = "installs a signal handler and makes a timer")]

use std::io;
use std::marker::PhantomData;
use std::mem;
use std::ptr;
use std::time::{Duration, Instant};

/// The time from one signal to the next, once the limit is over.
const AGAIN: Duration = Duration::from_millis(10);

/// The signal, counted from the last of the real-time signals: libraries take theirs from the first on.
fn signal() -> libc::c_int {
    libc::SIGRTMAX() - 3
}

extern "C" fn handler(_: libc::c_int) {}

pub(crate) struct Watchdog {
    timer: libc::timer_t,
    deadline: Instant,
    /// The signal goes to the thread that made it.
    not_send: PhantomData<*const ()>,
}

impl Watchdog {
    /// Ends system calls of this thread from `limit` on.
    ///
    /// # Errors
    /// The kernel's, where it gives no timer; EBUSY where the program uses the signal.
    pub(crate) fn after(limit: Duration) -> io::Result<Self> {
        install()?;
        let timer = timer()?;
        let watchdog = Self {
            timer,
            deadline: Instant::now() + limit,
            not_send: PhantomData,
        };
        let spec = libc::itimerspec {
            it_interval: timespec(AGAIN),
            it_value: timespec(limit.max(Duration::from_micros(1))),
        };
        // SAFETY: the timer exists; the old setting is not asked for.
        if unsafe { libc::timer_settime(timer, 0, &raw const spec, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(watchdog)
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // SAFETY: the timer exists, and nobody else has its number.
        unsafe { libc::timer_delete(self.timer) };
    }
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Installs the handler, unless the program has one of its own.
fn install() -> io::Result<()> {
    // SAFETY: all zeroes are a valid action: the default, with an empty mask.
    let mut old: libc::sigaction = unsafe { mem::zeroed() };
    // SAFETY: asks for the action and changes nothing.
    if unsafe { libc::sigaction(signal(), ptr::null(), &raw mut old) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let ours = handler as *const () as usize;
    if old.sa_sigaction == ours {
        return Ok(());
    }
    if old.sa_sigaction != libc::SIG_DFL {
        return Err(io::Error::from_raw_os_error(libc::EBUSY));
    }
    // No SA_RESTART: the call is to be interrupted.
    old.sa_sigaction = ours;
    old.sa_flags = libc::SA_ONSTACK;
    // SAFETY: the handler does nothing, so it may interrupt anything.
    if unsafe { libc::sigaction(signal(), &raw const old, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn timer() -> io::Result<libc::timer_t> {
    // SAFETY: all zeroes are a valid event, whose fields are set below.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = signal();
    // SAFETY: no arguments, no memory.
    event.sigev_notify_thread_id = unsafe { libc::gettid() };
    let mut timer: libc::timer_t = ptr::null_mut();
    // SAFETY: both structures live through the call.
    if unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(timer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    #[test]
    fn it_interrupts_a_call_and_says_that_the_limit_is_over() {
        let watchdog = Watchdog::after(Duration::from_millis(5)).unwrap();
        let begun = Instant::now();
        // SAFETY: waits for any signal.
        let waited = unsafe { libc::pause() };
        assert_eq!(waited, -1);
        assert!(begun.elapsed() >= Duration::from_millis(4));
        while !watchdog.is_over() {
            // SAFETY: as before.
            unsafe { libc::pause() };
        }
    }

    #[test]
    fn a_watchdog_that_is_gone_sends_no_signal() {
        drop(Watchdog::after(Duration::from_millis(1)).unwrap());
        let watchdog = Watchdog::after(Duration::from_secs(3600)).unwrap();
        sleep(Duration::from_millis(20));
        assert!(!watchdog.is_over());
    }
}
