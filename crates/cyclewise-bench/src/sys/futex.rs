//! futex(2): sleeping on a word of shared memory until another process changes it.
//!
//! Not private: the waiters are other processes. Both calls are async-signal-safe.

use rustix::io::Errno;
use rustix::thread::futex::{self, Flags};
use std::io;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while `word` holds `expected`, for at most `timeout`. May wake early: look at the word again.
pub fn wait(word: &AtomicU32, expected: u32, timeout: Duration) -> io::Result<()> {
    let timeout = timeout.try_into().ok();
    match futex::wait(word, Flags::empty(), expected, timeout.as_ref()) {
        // The word has changed already, or a signal arrived.
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

/// Wakes everyone who sleeps on `word`.
pub fn wake_all(word: &AtomicU32) {
    // Fails only for an address that is not mapped, and `word` is.
    let _ = futex::wake(word, Flags::empty(), i32::MAX as u32);
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
