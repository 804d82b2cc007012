//! How far a prediction may be from the truth: the errors on rows that the machine's fit had not seen.
//!
//! # Method
//! Split conformal prediction. If the next row is exchangeable with n rows that were predicted unseen, its error is at most the k-th
//! smallest of theirs with a probability of at least k / (n + 1). The band takes the least k that gives [`COVERAGE`], so it needs four
//! rows; with fewer there is no band, and a prediction says so. Errors are those of logarithms: a band of 1.5 is from two thirds of the
//! prediction to one and a half times as much.
//!
//! Rows are of the same machine, and of the same kind of workloads: the model's errors differ between classes by far more
//! than within one. Exchangeability is an assumption: a machine or a workload that is unlike all of the rows can be further off.
//!
//! A machine that has too few such rows has the band of published machines of its family that were held out ([`exam::band`]), for jobs within a
//! socket or between sockets: the farther of that band's two ends, either way.
//!
//! Published machines are anchored to a contended row, so their band is for machines of which that is true too. How far ratios of two programs on
//! one machine may be off, `exam::ratio_off` says.
//!
//! # References
//! H. Papadopoulos and others, "Inductive confidence machines for regression", ECML 2002. J. Lei and others, "Distribution-free predictive
//! inference for regression", JASA 113, 2018.

use crate::exam::{Reach, WorkloadKind};
use crate::machine::HeldOut;
use crate::{Machine, Workload, exam};
use serde::{Deserialize, Serialize};

/// The least probability that a band holds the truth.
pub const COVERAGE: f64 = 0.8;

/// The kind of workloads on which the model's errors are like those on this one; `None` for whole system calls and where nothing is contended.
pub(crate) const fn class(workload: Workload) -> Option<WorkloadKind> {
    match workload {
        Workload::Lockref | Workload::LockrefAdaptive => Some(WorkloadKind::Exchange),
        other => WorkloadKind::of(other),
    }
}

/// How far a prediction may be off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The truth is between the prediction divided and multiplied by this.
    pub factor: f64,
    /// The rows that it comes from.
    pub rows: u32,
    /// With which probability it holds a row like them, at least.
    pub coverage: f64,
    /// Whose rows they are.
    pub from: Evidence,
}

/// Whose rows a band comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Rows of the machine itself, each predicted by a fit without it.
    ThisMachine,
    /// Rows of published machines like it, each predicted by laws that were learned without the machine.
    OtherMachines,
}

/// The band of a workload's predictions on a machine, for jobs of this reach; `None` if too few rows like it were ever predicted unseen,
/// or not well enough.
pub fn band(machine: &Machine, workload: Workload, reach: Reach) -> Option<Band> {
    own_band(machine, workload).or_else(|| exam::band(machine, workload, reach).as_ref().map(of_other_machines))
}

/// The band of the machine's own rows; `None` if too few were held out.
pub fn own_band(machine: &Machine, workload: Workload) -> Option<Band> {
    let class = class(workload)?;
    let is_like = |row: &&HeldOut| self::class(row.workload) == Some(class);
    let own = machine.held_out.iter().filter(is_like);
    of_errors(own.map(HeldOut::error), Evidence::ThisMachine)
}

/// The same either way, as far as the farther end of the band of other machines.
fn of_other_machines(band: &exam::Band) -> Band {
    Band {
        factor: band.high.max(1.0 / band.low),
        rows: band.rows,
        coverage: exam::SHARE,
        from: Evidence::OtherMachines,
    }
}

/// The band that errors, as logarithms, give; `None` if there are too few.
pub fn of_errors(errors: impl Iterator<Item = f64>, from: Evidence) -> Option<Band> {
    let mut sizes: Vec<f64> = errors.map(f64::abs).collect();
    sizes.sort_by(f64::total_cmp);
    let rows = u32::try_from(sizes.len()).ok()?;
    let exchangeable = f64::from(rows) + 1.0;
    let k = (COVERAGE * exchangeable).ceil() as u32;
    let size = sizes.get(usize::try_from(k.checked_sub(1)?).ok()?)?;
    Some(Band {
        factor: size.exp(),
        rows,
        coverage: f64::from(k) / exchangeable,
        from,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, Topology};

    fn of(errors: &[f64]) -> Option<Band> {
        of_errors(errors.iter().copied(), Evidence::ThisMachine)
    }

    #[test]
    fn a_band_needs_four_rows_and_then_is_the_worst_of_them() {
        assert_eq!(of(&[0.1, -0.3, 0.2]), None);
        let band = of(&[0.1, -0.3, 0.2, 0.0]).unwrap();
        assert!((band.factor - 0.3_f64.exp()).abs() < 1e-12, "{band:?}");
        assert_eq!((band.rows, band.coverage), (4, 0.8));
        // Of nine, the eighth.
        let nine: Vec<f64> = (1..=9).map(|n| f64::from(n) / 10.0).collect();
        assert!((of(&nine).unwrap().factor - 0.8_f64.exp()).abs() < 1e-12);
    }

    #[test]
    fn the_band_holds_the_next_row_as_often_as_it_says() {
        // Every row in turn is the next one of all others: exact for any numbers that differ.
        let errors: Vec<f64> = (0..25)
            .map(|n| f64::from(n * 7 % 25) * if n % 2 == 0 { 0.01 } else { -0.01 })
            .collect();
        let held = (0..errors.len()).filter(|&next| {
            let others = errors.iter().enumerate().filter(|(n, _)| *n != next).map(|(_, e)| *e);
            errors[next].abs() <= of_errors(others, Evidence::ThisMachine).unwrap().factor.ln() + 1e-12
        });
        let share = held.count() as f64 / errors.len() as f64;
        assert!(share >= COVERAGE, "{share}");
        // The twin: half of the band holds far fewer.
        let half = of(&errors).unwrap().factor.ln() / 2.0;
        let held = errors.iter().filter(|e| e.abs() <= half).count() as f64 / errors.len() as f64;
        assert!(held < COVERAGE, "{held}");
    }

    #[test]
    fn the_farther_end_of_other_machines_counts_either_way() {
        let of = |low, high| {
            of_other_machines(&exam::Band {
                group: exam::Group {
                    pattern: exam::Pattern::QueueLock,
                    reach: Reach::Socket,
                },
                low,
                high,
                machines: 4,
                rows: 12,
                median_error: 0.1,
            })
        };
        assert_eq!((of(0.8, 1.5).factor, of(0.5, 1.5).factor), (1.5, 2.0));
        assert_eq!((of(0.8, 1.5).rows, of(0.8, 1.5).from), (12, Evidence::OtherMachines));
        // Rows of the machine itself come first.
        let mut machine = Machine::preset("i7-6700hq").unwrap().machine().unwrap();
        let like = band(&machine, Workload::FetchAdd, Reach::Socket).unwrap();
        assert!(
            like.from == Evidence::OtherMachines && (1.05..2.0).contains(&like.factor),
            "{like:?}"
        );
        machine.held_out = (1..=4)
            .map(|threads| HeldOut::of(&Job::new(Workload::FetchAdd, threads), 100.0, 125.0))
            .collect();
        let own = band(&machine, Workload::FetchAdd, Reach::Socket).unwrap();
        assert!(own.from == Evidence::ThisMachine && (own.factor - 1.25).abs() < 1e-9);
    }

    #[test]
    fn a_machine_has_a_band_for_the_classes_it_has_rows_of() {
        let mut machine = Machine::plain(Topology::new(1, 1, 4, 1));
        assert_eq!(band(&machine, Workload::LockMcs, Reach::Socket), None);
        machine.held_out = (1..=4)
            .map(|threads| HeldOut::of(&Job::new(Workload::LockTtas, threads), 100.0, 150.0))
            .collect();
        let locks = band(&machine, Workload::LockMcs, Reach::Socket).unwrap();
        assert!((locks.factor - 1.5).abs() < 1e-9);
        assert_eq!(band(&machine, Workload::OpenReadClose, Reach::Socket), None);
    }
}
