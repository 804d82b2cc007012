//! A command run to its end, with the kernel's counts for it and for the children it waited for.
//!
//! # Ending it early
//! Where a signal asks this process to end, or a limit of time is over, the command gets that signal (SIGTERM at the limit) and, after a second,
//! SIGKILL, and so do the processes that it started. Without a terminal it leads a process group, which has them all but those that left it,
//! which are found by their parents; a daemon has left its parent too. With one it stays
//! in ours, so that the group in the foreground is the one that it was: the command may read a password, Ctrl-C and Ctrl-Z reach it as they
//! reach us, and the processes to end are found by their parents.
//!
//! # Cost
//! The parent sleeps in poll(2) on a pidfd until the command ends: no timer, thread or look at a flag disturbs it. Before Linux 5.3 it
//! looks every 5 ms, and elapsed times are up to as much too long.
//!
//! # Safety
//! wait4 writes one `int` and one `rusage` of ours.
#![expect(unsafe_code, reason = "wait4")]

use super::{interrupt, process, signal, terminal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid};
use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How a command ended and what it used.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    pub status: ExitStatus,
    /// From before it was started until it was reaped, by CLOCK_MONOTONIC.
    pub elapsed: Duration,
    /// The kernel's counts.
    pub usage: Usage,
    /// Whether it was ended because it ran longer than its limit.
    pub over_limit: bool,
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

/// The time that a command has to end in good order before it is killed.
const GRACE: Duration = Duration::from_secs(1);

/// The time between two looks at a command where poll(2) cannot wait for it.
const LOOK: Duration = Duration::from_millis(5);

/// What is read of a pipe at once: its usual capacity.
const PIPE: usize = 64 << 10;

/// What may end a command before its own end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    pub limit: Option<Duration>,
    /// Not a signal that asks this process to end: it cleans up after others.
    pub ignores_signals: bool,
}

/// A pipe that a command writes to, and what takes its bytes.
pub struct Drain<'a> {
    /// The end to read.
    pub pipe: PipeReader,
    /// Called with what was written.
    pub take: &'a mut dyn FnMut(&[u8]),
    /// Whether the command counts as running until no process has the other end any more, as a shell's `command | cat` does.
    pub to_its_end: bool,
}

/// Runs `command` to its end, or ends it early: at its limit of time, or where a signal asks this process to end.
///
/// # Errors
/// ENOENT where there is no such program.
pub fn run(mut command: Command, bounds: Bounds, mut drain: Option<Drain<'_>>) -> io::Result<Finished> {
    // A parent that ignores SIGCHLD has it ignored here too, and the kernel would keep no status.
    signal::set_default(libc::SIGCHLD);
    let leads_group = !terminal::is_controlled();
    if leads_group {
        command.process_group(0);
    }
    let start = Instant::now();
    let job = Job {
        child: command.spawn()?,
        leads_group,
    };
    // It holds the other end of a pipe.
    drop(command);
    let pidfd = job.pidfd();
    let mut ending: Option<Ending> = None;
    loop {
        let cut = match &mut ending {
            None => bounds.due(start),
            Some(ending) => ending.again(),
        };
        if let Some(signal) = cut {
            job.send(signal);
            ending.get_or_insert_with(|| Ending::new(bounds.is_over(start)));
        }
        if ending.is_some() && job.has_ended() {
            // Who is left of its group: the number stays its own until it is reaped.
            job.send(libc::SIGKILL);
        }
        let waits_for_pipe = drain.as_ref().is_some_and(|d| d.to_its_end) && ending.is_none();
        if !waits_for_pipe && let Some((status, usage)) = reap(&job.child, libc::WNOHANG)? {
            let elapsed = start.elapsed();
            if let Some(Drain { mut pipe, take, .. }) = drain {
                take_rest(&mut pipe, take);
            }
            let over_limit = ending.is_some_and(|e| e.over_limit);
            return Ok(Finished {
                status,
                elapsed,
                usage,
                over_limit,
            });
        }
        let until = match &ending {
            Some(ending) => Some(ending.kill_at),
            None => bounds.limit.map(|limit| start + limit),
        };
        let is_readable = wait(
            pidfd.as_ref().filter(|_| !waits_for_pipe),
            drain.as_ref().map(|d| &d.pipe),
            ending.is_some() || bounds.ignores_signals,
            until,
        )?;
        if is_readable && let Some(d) = &mut drain {
            let mut bytes = [0; PIPE];
            match d.pipe.read(&mut bytes) {
                Ok(0) => drain = None,
                Ok(n) => (d.take)(&bytes[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// Takes what is in a pipe, whoever may still write to it.
fn take_rest(pipe: &mut PipeReader, take: &mut dyn FnMut(&[u8])) {
    let is_readable = |pipe: &PipeReader| {
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default())).is_ok_and(|n| n > 0)
    };
    let mut bytes = [0; PIPE];
    while is_readable(pipe)
        && let Ok(n @ 1..) = pipe.read(&mut bytes)
    {
        take(&bytes[..n]);
    }
}

/// Sleeps until the command ends, its pipe has something (which is returned), a signal asks, or it is `until`.
fn wait(
    command: Option<&OwnedFd>,
    pipe: Option<&PipeReader>,
    is_ending: bool,
    until: Option<Instant>,
) -> io::Result<bool> {
    let mut fds: Vec<PollFd<'_>> = Vec::with_capacity(3);
    fds.extend(pipe.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    fds.extend(command.map(|fd| PollFd::new(fd, PollFlags::IN)));
    // It stays readable, and is told once.
    let signals = interrupt::wake_up().filter(|_| !is_ending);
    fds.extend(signals.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
    let until = until.map(|until| until.saturating_duration_since(Instant::now()));
    // While a pipe is read to its end the command may have ended before.
    let look = (command.is_none() && pipe.is_none()).then_some(LOOK);
    let timeout = [until, look].into_iter().flatten().min();
    let timeout = timeout.map(|t| Timespec {
        tv_sec: t.as_secs() as i64,
        tv_nsec: t.subsec_nanos().into(),
    });
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(false),
        Err(e) => return Err(e.into()),
    }
    Ok(pipe.is_some() && !fds[0].revents().is_empty())
}

/// A command that runs.
struct Job {
    child: Child,
    leads_group: bool,
}

impl Job {
    fn pidfd(&self) -> Option<OwnedFd> {
        pidfd_open(self.pid()?, PidfdFlags::empty()).ok()
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id() as i32)
    }

    fn send(&self, signal: libc::c_int) {
        match self.leads_group {
            true => process::send_to_group(&self.child, signal),
            // A terminal has sent it to all of us already.
            false if signal == libc::SIGINT => {}
            false => process::send_to_tree(&self.child, signal),
        }
    }

    /// Whether it has ended and is not reaped.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        self.pid()
            .is_some_and(|pid| waitid(WaitId::Pid(pid), options).is_ok_and(|ended| ended.is_some()))
    }
}

impl Bounds {
    fn is_over(&self, start: Instant) -> bool {
        self.limit.is_some_and(|limit| start.elapsed() >= limit)
    }

    /// The signal by which a command that began at `start` is to be ended now.
    fn due(&self, start: Instant) -> Option<libc::c_int> {
        let asked = interrupt::signal().filter(|_| !self.ignores_signals);
        asked.or(self.is_over(start).then_some(libc::SIGTERM))
    }
}

/// A command that is ended early.
struct Ending {
    kill_at: Instant,
    over_limit: bool,
}

impl Ending {
    fn new(over_limit: bool) -> Self {
        Self {
            kill_at: Instant::now() + GRACE,
            over_limit,
        }
    }

    /// SIGKILL, if it has had its time.
    fn again(&mut self) -> Option<libc::c_int> {
        let now = Instant::now();
        (now >= self.kill_at).then(|| {
            self.kill_at = now + GRACE;
            libc::SIGKILL
        })
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

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stderr(Stdio::null());
        command
    }

    /// The result, and what was written to stdout.
    fn drained(script: &str, bounds: Bounds, to_its_end: bool) -> (Finished, Vec<u8>) {
        let (pipe, writer) = io::pipe().unwrap();
        let mut command = shell(script);
        command.stdout(writer);
        let mut written = Vec::new();
        let mut take = |bytes: &[u8]| written.extend_from_slice(bytes);
        let drain = Drain {
            pipe,
            take: &mut take,
            to_its_end,
        };
        let done = run(command, bounds, Some(drain)).unwrap();
        (done, written)
    }

    #[test]
    fn status_time_and_usage_come_from_the_kernel() {
        let done = run(shell("sleep 0.02; exit 3"), Bounds::default(), None).unwrap();
        assert_eq!(done.status.code(), Some(3));
        assert!(done.elapsed >= Duration::from_millis(20) && !done.over_limit);
        assert!(done.usage.max_rss_kib > 0);
        assert!(done.usage.voluntary_switches > 0);
        assert!(done.usage.minor_faults > 0);
    }

    /// Whether the process is gone, or waits for its parent's look, within ten seconds.
    fn is_gone(pid: &str) -> bool {
        let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat"));
        (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            stat().map_or(true, |stat| {
                stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z"))
            })
        })
    }

    /// Asks to end as soon as the first line is written.
    #[test]
    fn neither_a_command_nor_what_it_started_outlives_a_signal_that_asks_to_end() {
        nothing_outlives("sleep 600 & echo $!; wait");
    }

    #[test]
    fn nor_does_what_left_its_process_group() {
        nothing_outlives("setsid sh -c 'echo $$; exec sleep 600'; :");
    }

    fn nothing_outlives(script: &str) {
        let (pipe, writer) = io::pipe().unwrap();
        let mut command = shell(script);
        command.stdout(writer);
        let mut pid = String::new();
        let mut take = |bytes: &[u8]| {
            pid.push_str(&String::from_utf8_lossy(bytes));
            interrupt::pretend(true);
        };
        let drain = Drain {
            pipe,
            take: &mut take,
            to_its_end: true,
        };
        let done = run(command, Bounds::default(), Some(drain));
        // What cleans up is not ended.
        let bounds = Bounds {
            ignores_signals: true,
            ..Bounds::default()
        };
        let cleanup = run(shell("sleep 0.01"), bounds, None);
        interrupt::pretend(false);
        assert!(cleanup.unwrap().status.success());
        // The second where SIGINT is ignored, as below `nohup`.
        let signal = done.unwrap().status.signal();
        assert!(matches!(signal, Some(libc::SIGINT | libc::SIGKILL)), "{signal:?}");
        assert!(is_gone(pid.trim()), "{pid}");
        // The twin: nobody asks, and it ends by itself.
        let done = run(shell("sleep 0.01"), Bounds::default(), None).unwrap();
        assert!(done.status.success() && done.elapsed >= Duration::from_millis(10));
    }

    #[test]
    fn a_command_that_ignores_the_signal_is_killed_after_its_grace() {
        let bounds = Bounds {
            limit: Some(Duration::from_millis(50)),
            ..Bounds::default()
        };
        let (done, pid) = drained("trap '' TERM INT; echo $$; while :; do sleep 0.01; done", bounds, false);
        assert!(done.over_limit && done.elapsed >= GRACE);
        assert_eq!(done.status.signal(), Some(libc::SIGKILL));
        assert!(is_gone(String::from_utf8_lossy(&pid).trim()));
    }

    #[test]
    fn a_pipe_is_read_to_its_end_or_to_that_of_the_command() {
        let script = "(sleep 0.3; echo late) & echo early";
        let (done, written) = drained(script, Bounds::default(), true);
        assert!(done.elapsed >= Duration::from_millis(300));
        assert_eq!(written, b"early\nlate\n");
        let (_, written) = drained(script, Bounds::default(), false);
        assert_eq!(written, b"early\n");
        let (_, written) = drained("head -c 1000000 /dev/zero", Bounds::default(), false);
        assert_eq!(written.len(), 1_000_000);
    }

    #[test]
    fn a_status_is_there_though_the_parent_ignored_sigchld() {
        // SAFETY: SIG_IGN installs no code of ours; `run` undoes it.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
        assert_eq!(
            run(shell("exit 3"), Bounds::default(), None).unwrap().status.code(),
            Some(3)
        );
    }
}
