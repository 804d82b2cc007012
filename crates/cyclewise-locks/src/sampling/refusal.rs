//! Why a program cannot be sampled: one line each, with the evidence and what to do.

use super::session::{Failure, Step};
use crate::error::{Error, Status};
use cyclewise_bench::sys::errno::Errno;
use cyclewise_bench::sys::perf_probe;
use cyclewise_bench::sys::procfs::Sysfs;
use std::io;
use std::process::Command;

/// What works without a counter.
const INSTEAD: &str = "`--by emulator` works without a counter";

/// No event that may be used.
pub(super) fn nothing_to_sample(why: &str) -> Error {
    Error::unsupported(format!("locks: no counter of locked instructions: {why}; {INSTEAD}")).in_one_line()
}

/// An event, or its ring, was refused.
pub(super) fn of(fs: &Sysfs, failure: Failure) -> Error {
    let Failure { what, step, error } = failure;
    let errno = Errno::of_error(&error);
    let advice = match (step, errno.0) {
        (Step::NoCpu, _) => "no CPU that is online has it".to_owned(),
        (Step::Ring, libc::EPERM | libc::ENOMEM) => {
            let limit = fs.read("/proc/sys/kernel/perf_event_mlock_kb");
            format!("the memory that it locks is at its limit ({limit}): raise it, or give CAP_IPC_LOCK")
        }
        (_, libc::EACCES | libc::EPERM) => {
            let paranoid = fs.read("/proc/sys/kernel/perf_event_paranoid");
            format!(
                "not permitted ({paranoid}): set it to 2 or less (1 for ibs_op without `swfilt`), or give CAP_PERFMON"
            )
        }
        (_, libc::EMFILE | libc::ENFILE) => "it needs a few descriptors a CPU: raise `ulimit -n`".to_owned(),
        (_, libc::ENOSPC) => "the PMU has no counter left: stop other profilers".to_owned(),
        (_, libc::EBUSY) => "another user, such as the NMI watchdog, holds the PMU: stop it".to_owned(),
        _ => perf_probe::meaning(errno).to_owned(),
    };
    let call = match step {
        Step::Open | Step::NoCpu => "perf_event_open",
        Step::Ring => "its ring (mmap)",
    };
    Error::unsupported(format!("locks: {what}: {call}: {errno}; {advice}; {INSTEAD}")).in_one_line()
}

/// Waiting for the program failed.
pub(super) fn of_reading(error: &io::Error) -> Error {
    Error::system(
        "locks: cannot wait for the program",
        error,
        "run it again, with SIGCHLD not ignored",
    )
}

/// The program did not start.
pub(super) fn not_started(command: &Command, error: &io::Error) -> Error {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such program; give its path",
        io::ErrorKind::PermissionDenied => "it may not be executed; look at its permissions",
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => "it is no program of this machine; name its interpreter",
        _ => "look at the file",
    };
    Error {
        status: Status::Usage,
        ..Error::usage(format!(
            "locks: cannot start {:?}: {error}; {why}",
            command.get_program()
        ))
    }
    .in_one_line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclewise_bench::machine::fake::Tree;

    fn message(step: Step, errno: i32) -> String {
        let tree = Tree::new();
        tree.write("/proc/sys/kernel/perf_event_paranoid", "3");
        tree.write("/proc/sys/kernel/perf_event_mlock_kb", "516");
        let failure = Failure {
            what: "an event".to_owned(),
            step,
            error: io::Error::from_raw_os_error(errno),
        };
        let error = of(&tree.fs(), failure);
        assert_eq!(error.status, Status::Unsupported);
        error.message
    }

    #[test]
    fn each_refusal_is_one_line_with_what_to_do() {
        for (step, errno, says) in [
            (Step::Open, libc::EACCES, "perf_event_paranoid: 3"),
            (Step::Open, libc::EPERM, "CAP_PERFMON"),
            (Step::Open, libc::ENOENT, "no hardware PMU"),
            (Step::Open, libc::EMFILE, "ulimit -n"),
            (Step::Open, libc::ENOSPC, "no counter left"),
            (Step::Open, libc::EBUSY, "watchdog"),
            (Step::Ring, libc::EPERM, "perf_event_mlock_kb: 516"),
            (Step::NoCpu, libc::ENODEV, "no CPU that is online"),
        ] {
            let message = message(step, errno);
            assert!(message.contains(says), "{message}");
            assert!(
                message.contains("--by emulator") && !message.contains('\n'),
                "{message}"
            );
        }
    }

    #[test]
    fn a_program_that_does_not_start_is_wrong_use() {
        let mut command = Command::new("/does/not/exist");
        let refused = command.spawn().unwrap_err();
        let error = not_started(&command, &refused);
        assert_eq!(error.status, Status::Usage);
        assert!(error.message.contains("no such program"), "{error}");
    }
}
