//! Sleeping on a word of shared memory until another process changes it.
//!
//! Not `FUTEX_PRIVATE_FLAG`: the waiters are other processes. Both calls are async-signal-safe.
//!
//! # Safety
//! The kernel reads the word and one `timespec`, both borrowed for the call.
#![expect(unsafe_code, reason = "futex")]

use std::io;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` holds `expected`, for at most `timeout`. May wake early: look at the word again.
///
/// # Errors
/// ETIMEDOUT.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) -> io::Result<()> {
    // SAFETY: all zeroes is a valid timespec.
    let mut limit: libc::timespec = unsafe { std::mem::zeroed() };
    limit.tv_sec = timeout.as_secs() as libc::time_t;
    limit.tv_nsec = timeout.subsec_nanos() as _;
    // SAFETY: both pointers are to live values of the types the operation wants.
    let rc = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, &limit) };
    if rc == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        // The word has changed already, or a signal came.
        Some(libc::EAGAIN | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Wakes everyone who sleeps on `word`.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: the kernel only uses the address as a key.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, libc::c_int::MAX) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_word_does_not_sleep_and_an_unchanged_one_times_out() {
        let word = AtomicU32::new(1);
        wait(&word, 0, Duration::from_secs(60)).unwrap();
        let error = wait(&word, 1, Duration::from_millis(1)).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ETIMEDOUT));
    }
}
