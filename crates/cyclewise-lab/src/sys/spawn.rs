//! A command run to its end, with the kernel's counts for it and for the children it waited for.
//!
//! # Safety
//! wait4 writes one `int` and one `rusage` of ours.
#![expect(unsafe_code, reason = "wait4")]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// How a command ended and what it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    /// Its status.
    pub status: ExitStatus,
    /// From before it was started until it was reaped, by CLOCK_MONOTONIC.
    pub elapsed: Duration,
    /// The kernel's counts.
    pub usage: Usage,
}

/// The kernel's counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    /// User time, seconds.
    pub user_s: f64,
    /// System time, seconds.
    pub system_s: f64,
    /// Peak resident memory of the largest process, KiB. Linux counts the memory of the process that calls exec as the
    /// command's own, so this is never below the peak of the process that started it.
    pub max_rss_kib: u64,
    /// Times it gave up its CPU.
    pub voluntary_switches: u64,
    /// Times it was preempted.
    pub involuntary_switches: u64,
    /// Page faults served from memory.
    pub minor_faults: u64,
    /// Page faults that read a disk.
    pub major_faults: u64,
}

/// Runs `command` to its end.
///
/// # Errors
/// ENOENT where there is no such program; ECHILD where SIGCHLD is ignored.
pub(crate) fn run(command: &mut Command) -> io::Result<Finished> {
    let start = Instant::now();
    let child = command.spawn()?;
    let (status, usage) = reap(child.id() as libc::pid_t)?;
    // `child` is dropped, which neither waits nor kills: its number may belong to another process by now.
    Ok(Finished {
        status,
        elapsed: start.elapsed(),
        usage,
    })
}

fn reap(pid: libc::pid_t) -> io::Result<(ExitStatus, Usage)> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: writes an int and a rusage, both ours.
    while unsafe { libc::wait4(pid, &mut status, 0, usage.as_mut_ptr()) } == -1 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: zeroed is valid, and the kernel filled it.
    let usage = unsafe { usage.assume_init() };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    let usage = Usage {
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        max_rss_kib: usage.ru_maxrss as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn status_time_and_usage_come_from_the_kernel() {
        let done = run(Command::new("sh").args(["-c", "sleep 0.02; exit 3"])).unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert!(done.elapsed >= Duration::from_millis(20));
        assert!(done.usage.max_rss_kib > 0);
        assert!(done.usage.voluntary_switches > 0);
        assert!(done.usage.minor_faults > 0);
    }

    #[test]
    fn a_memory_file_takes_a_commands_output() {
        let file = crate::sys::memfd::file(c"test").unwrap();
        let out = Stdio::from(file.try_clone().unwrap());
        assert!(
            run(Command::new("echo").arg("hello").stdout(out))
                .unwrap()
                .status
                .success()
        );
        assert_eq!(file.metadata().unwrap().len(), 6);
    }
}
