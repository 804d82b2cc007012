//! A command run to its end, with the kernel's counts for it and for the children it waited for.
//!
//! # Safety
//! wait4 writes one `int` and one `rusage` of ours.
#![expect(unsafe_code, reason = "wait4")]

use super::interrupt;
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How a command ended and what it used.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// Its status.
    pub status: ExitStatus,
    /// From before it was started until it was reaped, by CLOCK_MONOTONIC.
    pub elapsed: Duration,
    /// The kernel's counts.
    pub usage: Usage,
}

/// The kernel's counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
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
pub fn run(command: &mut Command) -> io::Result<Finished> {
    let start = Instant::now();
    let child = command.spawn()?;
    loop {
        // `child` is dropped, which neither waits nor kills: its number may belong to another process by now.
        if let Some((status, usage)) = reap(&child, 0)? {
            let elapsed = start.elapsed();
            return Ok(Finished { status, elapsed, usage });
        }
    }
}

/// The time between two looks at whether a signal has asked this process to end.
const LOOK: Duration = Duration::from_millis(5);

/// Like [`run`], but where a signal asks this process to end, the command is killed. Its elapsed time may be 5 ms too long.
///
/// # Errors
/// As [`run`].
pub fn run_unless_interrupted(command: &mut Command) -> io::Result<Finished> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    loop {
        if let Some((status, usage)) = reap(&child, libc::WNOHANG)? {
            let elapsed = start.elapsed();
            return Ok(Finished { status, elapsed, usage });
        }
        if interrupt::asked() {
            child.kill()?;
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits for the child; `None` if it has not ended, which is so only with WNOHANG.
fn reap(child: &Child, flags: libc::c_int) -> io::Result<Option<(ExitStatus, Usage)>> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let ended = loop {
        // SAFETY: writes an int and a rusage, both ours.
        let pid = unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, flags, usage.as_mut_ptr()) };
        if pid != -1 {
            break pid != 0;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    };
    if !ended {
        return Ok(None);
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
    Ok(Some((ExitStatus::from_raw(status), usage)))
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
    fn a_command_outlives_no_signal_that_asks_to_end() {
        interrupt::pretend(true);
        let done = run_unless_interrupted(Command::new("sleep").arg("600"));
        interrupt::pretend(false);
        assert_eq!(done.unwrap().status.signal(), Some(libc::SIGKILL));
        // The twin: nobody asks, and it ends by itself.
        let done = run_unless_interrupted(Command::new("sleep").arg("0.01")).unwrap();
        assert!(done.status.success() && done.elapsed >= Duration::from_millis(10));
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
