//! The phase diagram: retries per success over the hold time and the arbiter's fairness.
//!
//! The horizontal axis is the hold after an exclusive fill, relative to the transfer time of a line. The vertical axis is
//! fairness: how many requests in a row may overtake the oldest, from none (first come, first served) up. All else is as in the
//! given machine and job. The diagram is meant for a contended compare-and-exchange loop.
//!
//! If the hold is as long as an operation, the second exchange always finds the line unchanged, so there is at most about one
//! retry. Without a hold, first come first served costs a retry for nearly every other thread; this explains 25 retries at 28
//! threads. In between, the arbiter decides.

use crate::machine::{Arbiter, Cap, Distance, Hold};
use crate::{Error, Job, Machine, simulate};
use serde::Serialize;

/// Holds, relative to the transfer time within a socket.
pub const HOLDS: [f64; 10] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// How many requests may overtake the oldest, from fair to unfair.
pub const OVERTAKES: [u32; 7] = [0, 1, 2, 4, 8, 16, 64];

/// A cell of the diagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Hold, in transfer times.
    pub hold: f64,
    /// The same hold in cycles.
    pub hold_cycles: u32,
    /// How many requests may overtake the oldest.
    pub overtakes: u32,
    /// Retries per success.
    pub retries_per_success: f64,
    /// Jain's index of the threads' operation counts; 1 is fair.
    pub jain: f64,
    /// Elapsed time per operation of all threads.
    pub ns_per_op: f64,
}

impl Cell {
    /// Whether there is at most one retry per success, on average.
    #[must_use]
    pub fn second_succeeds(&self) -> bool {
        self.retries_per_success <= 1.0
    }
}

/// One row of cells per value of [`OVERTAKES`], each with one cell per value of [`HOLDS`].
///
/// # Errors
/// [`Error`] if the job does not fit the machine.
pub fn diagram(machine: &Machine, job: &Job) -> Result<Vec<Vec<Cell>>, Error> {
    let transfer_cycles = machine.transfer_ns(Distance::Socket) * machine.ghz;
    let cell = |overtakes: u32, hold: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "shares of a latency in its range"
        )]
        let hold_cycles = (hold * transfer_cycles).round() as u32;
        let mut machine = machine.clone();
        machine.line.hold = if hold_cycles == 0 {
            Hold::None
        } else {
            Hold::Fixed { cycles: hold_cycles }
        };
        machine.line.arbiter = match overtakes {
            0 => Arbiter::Fifo,
            count => Arbiter::Nearest { cap: Cap::Count(count) },
        };
        let outcome = simulate(&machine, job)?;
        Ok(Cell {
            hold,
            hold_cycles,
            overtakes,
            retries_per_success: outcome.retries_per_success,
            jain: outcome.jain,
            ns_per_op: outcome.ns_per_op,
        })
    };
    OVERTAKES
        .iter()
        .map(|&count| HOLDS.iter().map(|&hold| cell(count, hold)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Topology, Workload};

    fn machine() -> Machine {
        Machine::plain(Topology {
            sockets: 2,
            clusters_per_socket: 1,
            cores_per_cluster: 14,
            threads_per_core: 1,
        })
    }

    #[test]
    fn retries_are_one_per_other_thread_without_a_hold_and_at_most_one_with_it() {
        let cells = diagram(&machine(), &Job::new(Workload::CasLoop, 28)).unwrap();
        assert_eq!((cells.len(), cells[0].len()), (OVERTAKES.len(), HOLDS.len()));
        let fair = &cells[0];
        assert!((20.0..=30.0).contains(&fair[0].retries_per_success), "{:?}", fair[0]);
        assert!(!fair[0].second_succeeds());
        let longest = fair.last().unwrap();
        assert!(longest.second_succeeds(), "{longest:?}");
        assert!(longest.ns_per_op < fair[0].ns_per_op);
    }

    #[test]
    fn a_job_that_does_not_fit_is_rejected() {
        let too_many = diagram(&machine(), &Job::new(Workload::CasLoop, 29));
        assert!(matches!(too_many, Err(Error::TooManyThreads { .. })));
    }
}
