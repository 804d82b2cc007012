//! Child processes that run our own code: forked, bounded in time, reaped whatever happens.
//!
//! # Invariants
//! 1. A [`Child`] is a child of this process that has not been reaped: its number cannot have been given to another.
//! 2. Whoever leaves the scope of a [`Child`] leaves no process behind: dropping kills and reaps it.
//! 3. A forked process never returns into its parent's code: every way out of [`InChild`] is `_exit`.
//!
//! # Safety
//! [`fork`] hands its contract to the caller; the rest passes plain numbers, or one `int` of ours, to the kernel.
#![expect(unsafe_code, reason = "fork, prctl, alarm, signal, kill, waitpid, _exit")]

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// Which side of a fork this is.
pub enum Fork {
    /// The process that forked.
    Parent(Child),
    /// The new process.
    Child(InChild),
}

/// The new process's own end: the only way on is [`exit`](InChild::exit).
pub struct InChild(());

impl InChild {
    /// Ends the process at once: no destructors, no exit handlers, as they are the parent's.
    pub fn exit(self, code: u8) -> ! {
        exit_now(i32::from(code))
    }
}

impl Drop for InChild {
    /// Reached only by a panic, which must not unwind into the parent's code (Invariant 3).
    fn drop(&mut self) {
        exit_now(101) // 101: what Rust programs that panic exit with
    }
}

fn exit_now(code: i32) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// Forks. The child dies with the thread that made it, or by SIGALRM after `limit_s` seconds.
///
/// # Safety
/// Other threads may hold locks, the allocator's among them, that nobody will ever release in the child. There, until
/// [`InChild::exit`], the caller may only make async-signal-safe calls: no allocation, no panic, no lock.
///
/// # Errors
/// EAGAIN at a limit of processes, ENOMEM.
pub unsafe fn fork(limit_s: u32) -> io::Result<Fork> {
    let parent = std::process::id();
    // SAFETY: what the child may do is the caller's contract.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let me = InChild(());
            // SAFETY: takes two numbers.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong) };
            // A parent that died before the line above sends no signal: somebody else has adopted us.
            if std::os::unix::process::parent_id() != parent {
                me.exit(0);
            }
            // SAFETY: SIG_DFL installs no code of ours.
            unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
            // SAFETY: takes a number.
            unsafe { libc::alarm(limit_s) };
            Ok(Fork::Child(me))
        }
        pid => Ok(Fork::Parent(Child { pid, reaped: false })),
    }
}

/// A forked process, not yet reaped (Invariants 1 and 2).
pub struct Child {
    pid: libc::pid_t,
    reaped: bool,
}

impl Child {
    /// Waits for it to end.
    ///
    /// # Errors
    /// ECHILD where this process was started with SIGCHLD ignored: the kernel then reaps by itself.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.reap(0)
            .map(|status| status.expect("without WNOHANG, waitpid reports a status"))
    }

    /// Its status, if it has ended.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.reap(libc::WNOHANG)
    }

    fn reap(&mut self, flags: libc::c_int) -> io::Result<Option<ExitStatus>> {
        let mut status = 0;
        loop {
            // SAFETY: writes one int, which is ours; the number is still our child's (Invariant 1).
            match unsafe { libc::waitpid(self.pid, &mut status, flags) } {
                0 => return Ok(None),
                -1 => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        self.reaped = true; // ECHILD: there is nothing left to reap
                        return Err(error);
                    }
                }
                _ => {
                    self.reaped = true;
                    return Ok(Some(ExitStatus::from_raw(status)));
                }
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // SAFETY: the number is still our child's (Invariant 1).
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            // There is nobody to tell of an error here, and SIGKILL leaves only one outcome.
            let _ = self.reap(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn child(limit_s: u32, body: impl FnOnce() -> u8) -> Child {
        // SAFETY: the bodies below only sleep, return a number, or are meant to end by a panic's guard.
        match unsafe { fork(limit_s) }.unwrap() {
            Fork::Parent(child) => child,
            Fork::Child(me) => me.exit(body()),
        }
    }

    fn forever() -> u8 {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    #[test]
    fn the_exit_code_comes_back() {
        assert_eq!(child(60, || 7).wait().unwrap().code(), Some(7));
    }

    #[test]
    fn a_child_that_hangs_is_ended_by_its_limit() {
        let status = child(1, forever).wait().unwrap();
        assert_eq!(status.signal(), Some(libc::SIGALRM));
    }

    #[test]
    fn dropping_kills_and_reaps() {
        // Were it not killed, this would wait for a day.
        let c = child(86_400, forever);
        let pid = c.pid;
        drop(c);
        // SAFETY: signal 0 only asks whether the process exists.
        assert_eq!(unsafe { libc::kill(pid, 0) }, -1);
    }

    #[test]
    fn unwinding_ends_the_child_and_not_the_parents_code() {
        // `resume_unwind` is a panic without the hook, which would print and take locks.
        let status = child(60, || std::panic::resume_unwind(Box::new(()))).wait().unwrap();
        assert_eq!(status.code(), Some(101));
    }
}
