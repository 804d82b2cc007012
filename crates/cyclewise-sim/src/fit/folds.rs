//! Which rows are held out together.
//!
//! Rows of one workload resemble each other: the third thread adds little to what two threads show. What is asked of a fitted machine
//! is what another primitive does on it. So a fold is the rows of one workload, if at least three workloads are measured; with fewer,
//! a fold would leave nothing to learn from, and is one row.

use super::measured::MeasuredRow;
use crate::Workload;

/// The folds of some rows, by their numbers; rows with one thread are in none.
pub(super) fn folds(all: &[MeasuredRow], rows: &[usize]) -> Vec<Vec<usize>> {
    let contended = || rows.iter().copied().filter(|&row| all[row].is_contended());
    let mut workloads: Vec<Workload> = Vec::new();
    for row in contended() {
        if !workloads.contains(&all[row].workload) {
            workloads.push(all[row].workload);
        }
    }
    if workloads.len() < 3 {
        return contended().map(|row| vec![row]).collect();
    }
    let of = |workload: &Workload| contended().filter(|&row| all[row].workload == *workload).collect();
    workloads.iter().map(of).collect()
}

/// The contended rows that are not in `fold`.
pub(super) fn others(all: &[MeasuredRow], rows: &[usize], fold: &[usize]) -> Vec<usize> {
    let is_other = |row: &usize| all[*row].is_contended() && !fold.contains(row);
    rows.iter().copied().filter(is_other).collect()
}
