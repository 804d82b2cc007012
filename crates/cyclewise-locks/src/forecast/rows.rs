//! Rows of the lab's matrix: which of them price a site.
//!
//! Each locked operation has a row, and a replacement: what is executed in its place once the remedy is applied. The second locked
//! instruction of a pair has a row that is derived: what the pair adds less what one alone adds.

use super::costs::{Costs, Ticks};
use crate::profile::{Form, Operation};

/// The column of operations back to back.
const NOTHING: &str = "nothing";

/// A row: what an operation adds back to back, and to each other column that can tell.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Back to back.
    pub(super) nothing: Ticks,
    /// By the columns of the matrix; none where the cell cannot tell.
    pub(super) cells: Vec<Option<Ticks>>,
}

impl Row {
    /// The row that adds nothing anywhere.
    pub(super) fn free(costs: &Costs) -> Self {
        Self {
            nothing: Ticks::default(),
            cells: vec![Some(Ticks::default()); costs.surroundings.len()],
        }
    }

    fn map(&self, change: impl Fn(Ticks, Option<usize>) -> Option<Ticks>) -> Option<Self> {
        let cells = self.cells.iter().enumerate();
        Some(Self {
            nothing: change(self.nothing, None)?,
            cells: cells
                .map(|(at, cell)| cell.and_then(|cell| change(cell, Some(at))))
                .collect(),
        })
    }

    /// This row less another one, as far as both can tell, times a factor.
    fn less(&self, other: &Self, factor: f64) -> Option<Self> {
        self.map(|ticks, at| {
            let other = match at {
                None => Some(other.nothing),
                Some(at) => other.cells[at],
            }?;
            // The far ends: the two medians' errors are not independent, since rounds are shared.
            Some(Ticks {
                ticks: factor * (ticks.ticks - other.ticks),
                ci95: [
                    factor * (ticks.ci95[0] - other.ci95[1]),
                    factor * (ticks.ci95[1] - other.ci95[0]),
                ],
            })
        })
    }
}

/// The first of these rows that the matrix has with a figure back to back.
pub(super) fn row(costs: &Costs, names: &[&str]) -> Option<Row> {
    let nothing = costs.surroundings.iter().position(|s| s.name == NOTHING)?;
    names.iter().find_map(|name| {
        let found = costs.operations.iter().find(|o| o.name == *name)?;
        let cells: Vec<Option<Ticks>> = (0..costs.surroundings.len())
            .map(|at| found.added.get(at).copied().flatten().filter(finite))
            .collect();
        Some(Row {
            nothing: cells[nothing]?,
            cells,
        })
    })
}

fn finite(cell: &Ticks) -> bool {
    cell.ticks.is_finite() && cell.ci95.iter().all(|end| end.is_finite())
}

/// Rows of an operation with its lock; the nearest one first.
fn locked_names(form: Form, operation: Operation) -> &'static [&'static str] {
    match (form, operation) {
        (Form::Lse | Form::Exclusive, Operation::FetchAdd | Operation::Exchange) => &["atomic-fetch-add", "atomic-inc"],
        (Form::Lse | Form::Exclusive, Operation::CompareExchange) => &["atomic-cmpxchg", "atomic-fetch-add"],
        (Form::Lse | Form::Exclusive, _) => &["atomic-inc", "atomic-fetch-add"],
        (_, Operation::FetchAdd) => &["lock-xadd64", "lock-inc64"],
        (_, Operation::Exchange | Operation::CompareExchange) => &["lock-cmpxchg64", "lock-xadd64"],
        (_, _) => &["lock-inc64", "lock-xadd64"],
    }
}

/// Rows of the same operation without its lock. An exchange becomes a load and a store.
fn plain_names(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::FetchAdd => &["plain-xadd", "xadd-elided", "plain-inc64"],
        Operation::CompareExchange => &["plain-cmpxchg", "cmpxchg-elided", "plain-inc64"],
        _ => &["plain-inc64", "inc-elided"],
    }
}

/// What is executed in place of a locked instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// The same without its lock.
    Plain,
    /// An addition to the current CPU's word.
    PerCpu,
    /// Nothing.
    Absent,
}

/// The rows that price a site.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rows {
    /// The locked instruction, away from others.
    pub(super) locked: Row,
    /// The same as the second of a pair; none where the matrix has no pair.
    pub(super) second: Option<Row>,
    /// What is executed in its place.
    pub(super) replacement: Row,
    /// Notes on rows that stand in for others.
    pub(super) notes: Vec<String>,
}

impl Rows {
    /// The row of a locked instruction, by whether it follows another one at once.
    pub(super) fn locked_row(&self, second: bool) -> &Row {
        match &self.second {
            Some(row) if second => row,
            _ => &self.locked,
        }
    }
}

/// The rows of an operation; none where the matrix has no locked instruction at all.
pub(super) fn rows(costs: &Costs, form: Form, operation: Operation, replacement: Replacement) -> Option<Rows> {
    let names = locked_names(form, operation);
    let locked = row(costs, names)?;
    let mut notes = Vec::new();
    if form == Form::Exclusive {
        notes.push(
            "the matrix has no row for loops of exclusives: they are taken for the machine's atomic additions".into(),
        );
    }
    if form == Form::Xchg {
        notes.push(
            "the matrix has no row for XCHG: it is taken for LOCK CMPXCHG, and a plain exchange for an INC".into(),
        );
    }
    if matches!(operation, Operation::Logic | Operation::Bit | Operation::MinMax) {
        notes.push(format!(
            "the matrix has no row for bits and minima: they are taken for {}",
            names[0]
        ));
    }
    let single = row(costs, &["lock-inc64", "atomic-inc"]);
    let pair = row(costs, &["lock-inc-dec", "refcount", "std-arc"]);
    let second = match (&single, &pair) {
        (Some(single), Some(pair)) if single.nothing.ticks > 0.0 => {
            pair.less(single, locked.nothing.ticks / single.nothing.ticks)
        }
        _ => None,
    };
    if second.is_none() {
        notes.push(
            "the matrix has no pair of locked instructions: one that follows another at once is priced back to back"
                .into(),
        );
    }
    let replacement = match replacement {
        Replacement::Absent => Row::free(costs),
        Replacement::Plain => row(costs, plain_names(operation)).unwrap_or_else(|| {
            notes.push("the matrix has no row without LOCK for an operation: it is taken to be free".into());
            Row::free(costs)
        }),
        Replacement::PerCpu => row(costs, &["percpu-add"]).unwrap_or_else(|| {
            notes.push("the matrix has no row `percpu-add`: an addition to the CPU's word is taken to be free".into());
            Row::free(costs)
        }),
    };
    Some(Rows {
        locked,
        second,
        replacement,
        notes,
    })
}
