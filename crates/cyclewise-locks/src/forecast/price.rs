//! What one execution of a site would save: from the matrix to the distance and mix of the program.
//!
//! `line` has the model of one column. What is saved is the difference to the replacement. It is read in the same way, as a whole:
//! what hides one hides the other.
//!
//! Kinds of code are averaged by their shares of the mix, as a kind's share is how probable it is that the CPU waits for
//! instructions of that kind. Within a kind, columns whose instructions wait are averaged with those whose do not by how
//! probable it is that the code waits, which its speed tells.

use super::columns::{CHAIN, COLUMNS, KINDS, waits_for_loads};
use super::costs::{Costs, Ticks};
use super::line::SavedLine;
use super::rows::Rows;

/// Figures in ticks, or after scaling in seconds: what the optimistic and pessimistic mixes make of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Span {
    /// The least.
    pub(super) low: f64,
    pub(super) mid: f64,
    /// The most.
    pub(super) high: f64,
    /// The half-width of what the cells' own intervals leave open.
    pub(super) cells: f64,
}

impl Span {
    /// The sum, where both err in the same direction.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            mid: self.mid + other.mid,
            high: self.high + other.high,
            cells: self.cells + other.cells,
        }
    }

    /// So many times this.
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            mid: self.mid * factor,
            high: self.high * factor,
            cells: self.cells * factor,
        }
    }
}

/// A pair that saves less than this share of what it costs back to back is hidden before the code ends.
const HIDDEN: f64 = 0.1;

/// The share of a column's own time that is hidden beside a locked instruction, by one alone or by a pair of them.
///
/// Where even the pair is hidden the matrix has only a lower bound. Such code does not wait for the lock, so all of it is
/// taken to be hidden. So is all of a chain of loads, beside which everything has time.
fn hidden_share(rows: &Rows, name: &str, at: usize, own: f64) -> f64 {
    let (Some(one), Some(replacement)) = (rows.locked.cells[at], rows.replacement.cells[at]) else {
        return 0.0;
    };
    let nothing = rows.locked.nothing.ticks;
    let pair = rows.second.as_ref().and_then(|second| {
        let two = second.cells[at]?;
        Some((
            nothing + second.nothing.ticks,
            one.ticks + two.ticks,
            2.0 * replacement.ticks,
        ))
    });
    let (nothing, cell, replacements) = pair.unwrap_or((nothing, one.ticks, replacement.ticks));
    if name == CHAIN || cell - replacements <= HIDDEN * nothing {
        return 1.0;
    }
    let single = (rows.locked.nothing.ticks - one.ticks) / own;
    ((nothing - cell) / own).max(single).clamp(0.0, 1.0)
}

fn half(cell: Ticks) -> f64 {
    (cell.ci95[1] - cell.ci95[0]).abs() / 2.0
}

/// What a locked instruction saves in one column; none where a cell cannot tell.
fn in_column(costs: &Costs, rows: &Rows, second: bool, name: &str, t: [f64; 3]) -> Option<Span> {
    let at = costs.surroundings.iter().position(|s| s.name == name)?;
    let locked = rows.locked_row(second);
    let (with, without) = (locked.cells[at]?, rows.replacement.cells[at]?);
    let own = costs.surroundings[at].own_ticks.max(f64::MIN_POSITIVE);
    let share = hidden_share(rows, name, at, own);
    // The loops repeat one word, so back to back the replacement waits for itself: a program whose words differ has no such wait.
    let replacement = rows.replacement.nothing.ticks;
    let line = SavedLine {
        nothing: [replacement, replacement.min(without.ticks)]
            .map(|replacement: f64| locked.nothing.ticks - replacement),
        cell: with.ticks - without.ticks,
        own,
        share,
        stays: name == CHAIN && !second,
        used: if second && share > 0.0 {
            rows.locked.nothing.ticks / share
        } else {
            0.0
        },
    };
    let mid = line.middle(t[1]);
    let readings = t.map(|t| [line.least(t), line.most(t)]);
    let low = readings.iter().map(|r| r[0]).fold(mid, f64::min);
    let high = readings.iter().map(|r| r[1]).fold(mid, f64::max);
    Some(Span {
        low,
        mid,
        high,
        cells: half(with) + half(without),
    })
}

/// The code around a site, as far as its price depends on it.
pub(super) struct Code {
    pub(super) shares: [f64; KINDS],
    /// Ticks since the locked instruction before: the least, the middle and the most.
    pub(super) t: [f64; 3],
    /// How probable it is that the code waits for a path of dependent instructions, in the same order.
    pub(super) waiting: [f64; 3],
}

/// What a locked instruction saves in such code.
///
/// Kinds without a cell that can tell are taken for anything from nothing to the price back to back.
pub(super) fn saved(costs: &Costs, rows: &Rows, second: bool, code: &Code) -> Span {
    let t = if second && rows.second.is_none() {
        [0.0; 3]
    } else {
        code.t
    };
    let unknown = Span {
        low: 0.0,
        mid: rows.locked.nothing.ticks / 2.0,
        high: rows.locked.nothing.ticks,
        cells: 0.0,
    };
    let read = |name: &str| in_column(costs, rows, second, name, t).unwrap_or(unknown);
    let chain = read(CHAIN);
    let for_loads = waits_for_loads(&code.shares);
    COLUMNS
        .iter()
        .zip(code.shares)
        .fold(Span::default(), |sum, (columns, share)| {
            let waiting = match columns.waiting.map(read) {
                Some(other) if columns.for_loads => either(other, chain, for_loads),
                Some(other) => other,
                None => chain,
            };
            sum.plus(mix(read(columns.free), waiting, code.waiting).times(share))
        })
}

/// One of two columns, and how probable the second is.
fn either(first: Span, second: Span, share: f64) -> Span {
    Span {
        low: first.low.min(second.low),
        mid: (1.0 - share) * first.mid + share * second.mid,
        high: first.high.max(second.high),
        cells: first.cells.max(second.cells),
    }
}

/// Two columns by how probable the second is: the least, the middle and the most.
fn mix(first: Span, second: Span, share: [f64; 3]) -> Span {
    let mean = |share: f64, first: f64, second: f64| (1.0 - share) * first + share * second;
    let mid = mean(share[1], first.mid, second.mid);
    Span {
        low: share
            .map(|share| mean(share, first.low, second.low))
            .into_iter()
            .fold(mid, f64::min),
        mid,
        high: share
            .map(|share| mean(share, first.high, second.high))
            .into_iter()
            .fold(mid, f64::max),
        cells: first.cells.max(second.cells),
    }
}

/// The least that a locked instruction saves in any column, if that is less than nothing: what eliding it costs at worst.
pub(super) fn worst(rows: &Rows) -> f64 {
    let columns = rows.locked.cells.iter().zip(&rows.replacement.cells);
    let saved = columns.filter_map(|(with, without)| {
        let (with, without) = ((*with)?, (*without)?);
        // A cell that cannot tell the sign tells no loss.
        let most = with.ci95[1] - without.ci95[0];
        (most < 0.0).then(|| with.ci95[0] - without.ci95[1])
    });
    saved.fold(0.0, f64::min)
}
