//! Child processes that run our own code: forked, bounded in time, reaped whatever happens.
//!
//! # Invariants
//! 1. A [`Child`] is a child of this process that has not been reaped: its number cannot have been given to another.
//! 2. Dropping a [`Child`] kills and reaps it, so no process is left behind.
//! 3. A forked process never returns into its parent's code: every way out of [`InChild`] is `_exit`.
//!
//! # Safety
//! [`fork`] hands its contract to the caller; the other calls take plain numbers.
#![expect(unsafe_code, reason = "fork, alarm, signal, _exit")]

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group, set_parent_process_death_signal, waitpid,
};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

pub enum Fork {
    Parent(Child),
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

/// From now on this process is killed when its parent ends, which was `parent` at its start.
pub fn die_with_parent(parent: u32) {
    // Cannot fail: SIGKILL is a signal.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // A parent that died before the line above sends no signal: another process has adopted us.
    if std::os::unix::process::parent_id() != parent {
        exit_now(0);
    }
}

/// Sends a signal to a child that has not been waited for.
pub fn send(child: &std::process::Child, signal: i32) {
    if let Some((pid, signal)) = named(child, signal) {
        // Fails only if it has ended, and then there is nothing to tell it.
        let _ = kill_process(pid, signal);
    }
}

/// Sends a signal to all in the process group that a child leads which has not been waited for, and to those below it that left the group.
pub fn send_to_group(child: &std::process::Child, signal: i32) {
    let Some((group, named)) = named(child, signal) else {
        return;
    };
    let below = tree(child).into_iter().filter_map(|pid| named_by(pid, signal));
    let elsewhere: Vec<_> = below
        .filter(|(pid, _)| getpgid(Some(*pid)).is_ok_and(|g| g != group))
        .collect();
    // As above.
    let _ = kill_process_group(group, named);
    for (pid, signal) in elsewhere {
        let _ = kill_process(pid, signal);
    }
}

/// Sends a signal to a child that has not been waited for, to its children, and so on, where the kernel lists them (CONFIG_PROC_CHILDREN).
pub fn send_to_tree(child: &std::process::Child, signal: i32) {
    for (pid, signal) in tree(child).into_iter().filter_map(|pid| named_by(pid, signal)) {
        let _ = kill_process(pid, signal);
    }
}

fn tree(child: &std::process::Child) -> Vec<u32> {
    let mut tree = vec![child.id()];
    let mut next = 0;
    while let Some(&pid) = tree.get(next) {
        tree.extend(children(pid));
        next += 1;
    }
    tree
}

fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    let lists = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|n| n.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect()
}

fn named(child: &std::process::Child, signal: i32) -> Option<(Pid, Signal)> {
    named_by(child.id(), signal)
}

fn named_by(pid: u32, signal: i32) -> Option<(Pid, Signal)> {
    Some((
        Pid::from_raw(i32::try_from(pid).ok()?)?,
        Signal::from_named_raw(signal)?,
    ))
}

/// Sends SIGTERM to a process of this number, if there is one.
pub fn terminate(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        // Fails only if it has ended, or is another user's.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// Forks. The child dies with the thread that made it, or by SIGALRM after `limit_s` seconds.
///
/// # Safety
/// Other threads may hold locks, the allocator's among them, that are never released in the child. There, until
/// [`InChild::exit`], the caller may only make async-signal-safe calls: no allocation, no panic, no lock.
///
/// # Errors
/// EAGAIN at a limit of processes, ENOMEM.
pub unsafe fn fork(limit_s: u32) -> io::Result<Fork> {
    let parent = std::process::id();
    // SAFETY: what the child may do is the caller's contract.
    let pid = unsafe { libc::fork() };
    if pid == -1 {
        return Err(io::Error::last_os_error());
    }
    match Pid::from_raw(pid) {
        None => {
            let me = InChild(());
            die_with_parent(parent);
            // SAFETY: SIG_DFL installs no code of ours.
            unsafe { libc::signal(libc::SIGALRM, libc::SIG_DFL) };
            // SAFETY: takes a number.
            unsafe { libc::alarm(limit_s) };
            Ok(Fork::Child(me))
        }
        Some(pid) => Ok(Fork::Parent(Child { pid, reaped: false })),
    }
}

/// A forked process, not yet reaped (Invariants 1 and 2).
pub struct Child {
    pid: Pid,
    reaped: bool,
}

impl Child {
    /// Waits for it to end.
    ///
    /// # Errors
    /// ECHILD where this process was started with SIGCHLD ignored: the kernel then reaps by itself.
    pub fn wait(mut self) -> io::Result<ExitStatus> {
        self.reap(WaitOptions::empty())
            .map(|status| status.expect("without WNOHANG, waitpid reports a status"))
    }

    /// Its status, if it has ended.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.reap(WaitOptions::NOHANG)
    }

    fn reap(&mut self, options: WaitOptions) -> io::Result<Option<ExitStatus>> {
        loop {
            // The number is still our child's (Invariant 1).
            match waitpid(Some(self.pid), options) {
                Err(Errno::INTR) => {}
                Ok(None) => return Ok(None),
                ended => {
                    self.reaped = true; // on ECHILD too: there is nothing left to reap
                    return Ok(ended?.map(|(_, status)| ExitStatus::from_raw(status.as_raw())));
                }
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.reaped {
            // The number is still our child's (Invariant 1), so neither call can fail.
            let _ = kill_process(self.pid, Signal::KILL);
            let _ = self.reap(WaitOptions::empty());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::test_kill_process;
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
        // Without the kill, this would wait for a day.
        let c = child(86_400, forever);
        let pid = c.pid;
        drop(c);
        assert_eq!(test_kill_process(pid), Err(Errno::SRCH));
    }

    #[test]
    fn unwinding_ends_the_child_and_not_the_parents_code() {
        // `resume_unwind` is a panic without the hook, which would print and take locks.
        let status = child(60, || std::panic::resume_unwind(Box::new(()))).wait().unwrap();
        assert_eq!(status.code(), Some(101));
    }
}
