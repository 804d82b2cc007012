//! Why a job cannot be simulated.

use std::fmt;

/// Why there is no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The job has no thread.
    NoThreads,
    /// The job has more threads, including readers, than the machine has CPUs.
    TooManyThreads {
        /// Threads and readers requested.
        asked: u32,
        /// CPUs of the machine, at most 16384.
        cpus: u32,
    },
    /// The machine has an impossible value.
    InvalidMachine {
        /// The dotted name of the field.
        field: &'static str,
        /// The permitted values.
        must: &'static str,
    },
    /// The job measures nothing: its length is zero.
    NoLength,
    /// Many events passed without a finished operation: under the machine's laws the program makes no progress.
    NoProgress {
        /// The number of events.
        events: u64,
    },
    /// On the machine, waking the readers of another socket takes the home no time, so how a lock whose waiters read grows is not known.
    FreeReaders,
    /// The simulated time is near the engine's limit: the operations are too many or too long.
    TooLong,
    /// A line's value does not match the operations on it: the engine or the program has a bug.
    NotConserved {
        /// The line's number.
        line: u32,
        /// The value found.
        found: u64,
        /// The value expected.
        expected: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreads => f.write_str("0 threads do nothing: use at least 1"),
            Self::TooManyThreads { asked, cpus } => write!(
                f,
                "{asked} threads and readers do not fit on {cpus} CPUs: use fewer, or change the machine's topology"
            ),
            Self::InvalidMachine { field, must } => write!(f, "the machine's {field} must be {must}: change it"),
            Self::NoLength => f.write_str("a length of 0 measures nothing: use at least 1 operation"),
            Self::NoProgress { events } => write!(
                f,
                "no operation finished in {events} events: under this machine's laws the threads only disturb each other; add a hold time to the machine, or a pause between tries"
            ),
            Self::FreeReaders => f.write_str(
                "the machine does not say what waking readers costs (cost.read_cycles and cost.invalidate_cycles are 0), so how the time grows with \
                 waiters that read in several sockets is not known: give one of them, or use threads of one socket",
            ),
            Self::TooLong => f.write_str(
                "more than fifty simulated days have passed: use fewer operations, or less critical and parallel work",
            ),
            Self::NotConserved { line, found, expected } => write!(
                f,
                "line {line} contains {found}, but its operations add up to {expected}: this is a bug in the simulator; report the machine and the job"
            ),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_one_line_that_says_what_to_do() {
        let errors = [
            (Error::NoThreads, "use at least"),
            (Error::TooManyThreads { asked: 9, cpus: 8 }, "use fewer"),
            (
                Error::InvalidMachine {
                    field: "ghz",
                    must: "more",
                },
                "change",
            ),
            (Error::NoLength, "use at least"),
            (Error::NoProgress { events: 7 }, "add a hold time"),
            (Error::FreeReaders, "give one of them"),
            (Error::TooLong, "use fewer"),
            (
                Error::NotConserved {
                    line: 0,
                    found: 1,
                    expected: 2,
                },
                "report",
            ),
        ];
        for (error, remedy) in errors {
            let line = error.to_string();
            assert!(line.contains(remedy) && !line.contains('\n'), "{line}");
        }
    }
}
