//! Running a test's function in a child.
//!
//! # Safety
//! 1. The pid is our child's until it has been waited for.
#![expect(unsafe_code, reason = "fork, waitpid, kill, _exit")]

use core::time::Duration;

/// Runs `child` in a child and returns its status as wait(2) has it, 101 where it panicked. A child that takes longer than
/// `limit` is killed.
///
/// # Safety
/// The caller may have other threads: `child` does what a child of such a process may.
pub(crate) unsafe fn child(child: fn(), limit: Duration) -> i32 {
    // SAFETY: the caller vouches for what the child does without the other threads.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let outcome = std::panic::catch_unwind(child);
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(if outcome.is_ok() { 0 } else { 101 }) };
    }
    let begun = std::time::Instant::now();
    let mut status = 0;
    // SAFETY: our child (Invariant 1).
    while unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == 0 {
        if begun.elapsed() > limit {
            // SAFETY: takes numbers; our child (Invariant 1).
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    status
}
