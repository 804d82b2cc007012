//! Fits a machine to measurements: transfer times by distance, and contended rows of counters and locks.
//!
//! # Procedure
//! 1. Costs come from the one-thread rows, as those of examined machines do.
//! 2. The instruction set determines whether a failed exchange takes the line. PAUSE is measured.
//! 3. The laws are searched: every arbiter, hold and probe share of fixed lists, with a store buffer and without, and on Arm with
//!    atomics near and far, is simulated on every row, and for the best ones the transfer times are scaled to match the rows.
//! 4. Which kinds of laws the machine has is decided by rows that they were not fitted to (`search`): the rows are divided into folds,
//!    the laws' values are chosen on all folds but one, and their error is that on the one left out.
//! 5. The whole of this is done once more without each fold (`held_out`), which predicts its rows. These predictions are in the machine,
//!    and give the band of whatever is simulated on it later ([`crate::band`]).
//!
//! A candidate's badness on rows is a sum: the squared logarithm of simulated by measured time for each row, in units of 10 %, which
//! is the spread between runs, and the squared logarithm of the scale, in the same unit, because transfers are measured too. Of equal
//! candidates, the first in the list wins. Nothing is random, so the same measurements give the same machine.
//!
//! # Limits
//! Rows of `fetch_add` show how long a line moves and stays. They do not depend on the arbiter, because any next thread adds one. With
//! two threads only one request ever waits, so no row depends on it. What rows cannot tell is refused ([`FitError`]) or named
//! ([`Law::as_well`]).

mod base;
mod candidates;
mod folds;
mod held_out;
mod measured;
mod search;
mod table;
#[cfg(test)]
mod tests;

pub use measured::{Fit, FitError, FittedRow, Isa, Law, MEASURED, MeasuredRow, Measurements};

use crate::Workload;
use crate::machine::Cores;

/// Fits a machine to measurements (see the module).
///
/// # Errors
/// [`FitError`] if a required figure is missing or invalid.
pub fn fit(measured: &Measurements) -> Result<Fit, FitError> {
    let base = base::base(measured)?;
    // Report broken rules before the search, which takes a while.
    base.to_toml().map_err(FitError::Machine)?;
    check(measured)?;
    let fit = held_out::fit(&base, &measured.rows);
    fit.machine.to_toml().map_err(FitError::Machine)?;
    Ok(fit)
}

fn check(measured: &Measurements) -> Result<(), FitError> {
    let cpus = measured
        .cores
        .as_ref()
        .map_or_else(|| measured.topology.cpus(), Cores::cpus);
    for (index, row) in measured.rows.iter().enumerate() {
        let is_known = MEASURED.contains(&row.workload);
        let is_time = row.ns_per_op.is_finite() && row.ns_per_op > 0.0;
        if !is_known || !is_time || row.threads == 0 || row.threads > cpus {
            return Err(FitError::BadRow { row: index + 1 });
        }
    }
    let is_contended = |row: &MeasuredRow| row.workload == Workload::FetchAdd && row.threads > 1;
    if !measured.rows.iter().any(is_contended) {
        return Err(FitError::NoContended);
    }
    if measured.rows.iter().all(|row| row.threads < 3) {
        return Err(FitError::TwoThreads);
    }
    Ok(())
}
