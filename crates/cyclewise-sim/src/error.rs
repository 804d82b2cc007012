//! What cannot be simulated, and why.

use std::fmt;

/// Why there is no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The job has no thread.
    NoThreads,
    /// The job has more threads, readers among them, than the machine has CPUs.
    TooManyThreads {
        /// Threads and readers asked for.
        asked: u32,
        /// CPUs of the machine, and at most 16384.
        cpus: u32,
    },
    /// The machine has a figure that no machine has.
    NoMachine {
        /// The dotted name of the field.
        field: &'static str,
        /// What it has to be.
        must: &'static str,
    },
    /// The job measures nothing: its length is zero.
    NoLength,
    /// So many events passed without one operation done: under these laws the program does not get anywhere.
    NoProgress {
        /// How many.
        events: u64,
    },
    /// Time has come to what the engine can still count on from: the operations are too many, or too long.
    TooLong,
    /// A line does not hold what the operations on it come to: the engine or the program is wrong.
    NotConserved {
        /// The line's number.
        line: u32,
        /// What it holds.
        found: u64,
        /// What it should.
        expected: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoThreads => f.write_str("0 threads do nothing: ask for at least 1"),
            Self::TooManyThreads { asked, cpus } => write!(
                f,
                "{asked} threads and readers do not fit on {cpus} CPUs, one each: ask for fewer, or change the machine's topology"
            ),
            Self::NoMachine { field, must } => write!(f, "the machine's {field} must be {must}: change it"),
            Self::NoLength => f.write_str("a length of 0 measures nothing: ask for at least 1 operation"),
            Self::NoProgress { events } => write!(
                f,
                "no operation was done in {events} events: under this machine's laws the threads only disturb each other; a hold time, or a pause between tries, would end that"
            ),
            Self::TooLong => f.write_str(
                "more than fifty simulated days have passed: ask for fewer operations, or for less work in and between them",
            ),
            Self::NotConserved { line, found, expected } => write!(
                f,
                "line {line} holds {found} where its operations come to {expected}: the simulator is wrong; report the machine and the job"
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
            (Error::NoThreads, "ask for"),
            (Error::TooManyThreads { asked: 9, cpus: 8 }, "ask for"),
            (
                Error::NoMachine {
                    field: "ghz",
                    must: "more",
                },
                "change",
            ),
            (Error::NoLength, "ask for"),
            (Error::NoProgress { events: 7 }, "would end that"),
            (Error::TooLong, "ask for"),
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
