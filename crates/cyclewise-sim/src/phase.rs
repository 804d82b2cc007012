//! The phase diagram's data: how long a line stays, and how fairly it is given, against the retries per success.
//!
//! Across goes the hold after an exclusive fill, as a share of the time that a line takes to move. Up goes fairness: how
//! many requests in a row may overtake the oldest, from none, first come first served, to as many as there are. The machine
//! is otherwise the one that is given, and so is the job; a contended loop of exchanges is what it is meant for.
//!
//! Where the hold is as long as an operation, the second exchange always finds the line unchanged, and there is at most
//! about one retry. Without a hold, first come first served gives a retry for nearly every other thread: that is where 25
//! retries at 28 threads come from. In between the arbiter decides.

use crate::machine::{Arbiter, Cap, Distance, Hold};
use crate::{Error, Job, Machine, simulate};
use serde::Serialize;

/// Holds, as shares of the transfer between the farthest threads of the job's kind.
pub const HOLDS: [f64; 10] = [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// How many requests may overtake the oldest, from fair to unfair.
pub const OVERTAKES: [u32; 7] = [0, 1, 2, 4, 8, 16, 64];

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Hold by transfer time.
    pub hold: f64,
    /// The hold that this was, in cycles.
    pub hold_cycles: u32,
    /// How many requests may overtake the oldest.
    pub overtakes: u32,
    /// Retries per success.
    pub retries_per_success: f64,
    /// How the operations were spread over the threads: 1 is evenly.
    pub jain: f64,
    /// Time per operation of all threads together.
    pub ns_per_op: f64,
}

impl Cell {
    /// Whether an exchange succeeds at the second attempt at the latest, on average.
    #[must_use]
    pub fn second_succeeds(&self) -> bool {
        self.retries_per_success <= 1.0
    }
}

/// A row of cells for each number of overtakers, in the order of [`OVERTAKES`]; each in the order of [`HOLDS`].
///
/// # Errors
/// [`Error`] where the job does not fit the machine.
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
    fn a_fair_line_that_does_not_stay_makes_a_retry_for_each_other_thread_and_one_that_stays_none() {
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
    fn a_job_that_does_not_fit_is_refused() {
        let too_many = diagram(&machine(), &Job::new(Workload::CasLoop, 29));
        assert!(matches!(too_many, Err(Error::TooManyThreads { .. })));
    }
}
