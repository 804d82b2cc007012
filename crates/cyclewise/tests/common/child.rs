//! Children of fork, and how they end.

use super::call;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// When a child that hangs is killed: long after any busy machine has finished.
pub const HANG_S: u32 = 600;

/// How a child fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It exited with this status.
    Exit(i32),
    /// This signal killed it.
    Signal(i32),
}

/// Exit status of a child that panics.
pub const PANIC: End = End::Exit(101);

/// Runs `body` in a child with one thread. SIGALRM kills it if it hangs.
///
/// Other threads of the caller may hold the allocator's locks, which the C library handles, but not std's locks: of
/// standard output, the environment or the panic hook.
pub fn in_child(body: impl FnOnce()) -> Result<(), End> {
    in_child_for(HANG_S, body)
}

/// Runs `body` in a child that SIGALRM kills after `seconds`.
pub fn in_child_for(seconds: u32, body: impl FnOnce()) -> Result<(), End> {
    wait_for(fork(alarmed(seconds, body)))
}

/// `body`, in a process that SIGALRM kills after `seconds`.
pub fn alarmed(seconds: u32, body: impl FnOnce()) -> impl FnOnce() {
    move || {
        call::alarm(seconds);
        body();
    }
}

/// Starts a child that runs `body` and exits; returns its id.
pub fn fork(body: impl FnOnce()) -> i32 {
    // SAFETY: the child uses only what the C library keeps usable after fork, and leaves by _exit.
    run_in(unsafe { libc::fork() }, body)
}

/// The same by clone(2), for which the C library runs no atfork handlers.
pub fn bare_fork(body: impl FnOnce()) -> i32 {
    // SAFETY: as fork(2): no flag but the signal of its end, and no stack of its own.
    let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    run_in(pid as i32, body)
}

fn run_in(pid: i32, body: impl FnOnce()) -> i32 {
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        let outcome = catch_unwind(AssertUnwindSafe(body));
        call::_exit(if outcome.is_ok() { 0 } else { 101 });
    }
    pid
}

/// Children from here on are in a pid namespace of their own, where the first has pid 1. False where that is not allowed.
pub fn own_pids() -> bool {
    let unshare = |flags| call::unshare(flags) == 0;
    unshare(libc::CLONE_NEWPID) || unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWPID)
}

/// Waits until the child has ended.
pub fn wait_for(pid: i32) -> Result<(), End> {
    let (waited, end) = wait(pid);
    assert_eq!(waited, pid, "waitpid: {}", std::io::Error::last_os_error());
    end
}

/// Waits until any child has ended; its id, and how.
pub fn wait_for_any() -> (i32, Result<(), End>) {
    let (waited, end) = wait(-1);
    assert!(waited > 0, "waitpid: {}", std::io::Error::last_os_error());
    (waited, end)
}

fn wait(pid: i32) -> (i32, Result<(), End>) {
    let mut status = 0;
    // SAFETY: writes one integer.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    let end = match status {
        0 => Ok(()),
        s if libc::WIFSIGNALED(s) => Err(End::Signal(libc::WTERMSIG(s))),
        s => Err(End::Exit(libc::WEXITSTATUS(s))),
    };
    (waited, end)
}

/// Runs `body` while a second thread waits. On return the process has one thread again.
pub fn with_two_threads(body: impl FnOnce()) {
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let second = std::thread::spawn(move || ended.recv().unwrap_err());
    body();
    drop(end);
    second.join().unwrap();
    wait_until_alone();
}

/// Waits until the kernel lists no other thread: it still lists a joined thread for a moment.
pub fn wait_until_alone() {
    while std::fs::read_dir("/proc/self/task").unwrap().count() > 1 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Whether a process may trace its child.
pub fn may_trace() -> bool {
    in_child(|| assert_eq!(trace_me(), 0)).is_ok()
}

/// Asks to be traced by the parent.
pub fn trace_me() -> libc::c_long {
    // SAFETY: takes numbers.
    unsafe { libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) }
}
