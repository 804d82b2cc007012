//! Whether this process may count its own core cycles, and if not, why.

use super::errno::Errno;
use super::perf::Group;

/// Opens a cycle counter on this thread, user mode only, and returns what it counted over a short loop.
///
/// A count of 0 is a counter that opens and does not count, which some hypervisors give.
///
/// # Errors
/// What perf_event_open returned; [`meaning`] explains it.
pub fn probe() -> Result<u64, Errno> {
    Group::probe()
        .map(|reading| reading.cycles)
        .map_err(|e| Errno::of_error(&e))
}

/// What an error of perf_event_open means for a hardware event, and what a user can do.
pub fn meaning(errno: Errno) -> &'static str {
    match errno.0 {
        libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENXIO => {
            "no hardware PMU behind the event: a VM without a virtual PMU, or a CPU the kernel does not know"
        }
        libc::EACCES | libc::EPERM => {
            "not permitted: set kernel.perf_event_paranoid to 2 or less, give CAP_PERFMON, or let the container's filter pass it"
        }
        libc::ENOSYS => "the kernel was built without perf events, or a filter hides the call",
        libc::EBUSY => "somebody else holds the PMU exclusively",
        libc::EMFILE => "too many descriptors are open: raise `ulimit -n`",
        libc::EINVAL => "the kernel does not take this event",
        _ => "not a known refusal of perf_event_open",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_counts_or_says_why_not() {
        match probe() {
            Ok(cycles) => eprintln!("counted {cycles} cycles"),
            Err(errno) => eprintln!("skipped: perf_event_open gave {errno}: {}", meaning(errno)),
        }
    }

    #[test]
    fn refusals_are_told_apart() {
        assert_says!(meaning(Errno(libc::ENOENT)), "no hardware PMU");
        assert_says!(meaning(Errno(libc::EACCES)), "paranoid");
        assert_ne!(meaning(Errno(libc::ENOSYS)), meaning(Errno(libc::EBUSY)));
    }
}
