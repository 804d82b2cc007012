//! What operations add to the code around them: the matrix of the experiment `in-context`.

use super::{Figure, Interval, State, Variant};
use serde::{Deserialize, Serialize};

/// Operations by surroundings, and the time that each operation adds to each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Matrix {
    /// Repetitions of the surroundings, and of the operation between them, in one iteration of a loop.
    pub copies: u32,
    pub surroundings: Vec<Surrounding>,
    pub operations: Vec<Operation>,
}

/// The code around an operation: a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surrounding {
    /// The name scripts use.
    pub name: String,
    /// A heading of at most seven letters.
    pub short: String,
    pub what: String,
    pub repetitions: u64,
    /// Ticks of one repetition alone, by state; the headline first.
    pub own: Vec<Figure>,
    /// What it adds to itself: the second sampling of a round less the first. It must include 0.
    pub control: Added,
    /// Ticks of one repetition in each round, for the differences; null where the sample was rejected.
    pub samples: Vec<Option<f64>>,
    /// The same, sampled a second time.
    pub again: Vec<Option<f64>>,
}

/// An operation: a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Operation {
    /// The name scripts use.
    pub name: String,
    pub what: String,
    /// The row of another experiment that repeats the same operation back to back: experiment and variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_row: Option<[String; 2]>,
    /// What it adds to each of [`Matrix::surroundings`]; null where it was not measured.
    pub cells: Vec<Option<Cell>>,
}

/// What an operation adds to one kind of surroundings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Ticks that one operation adds: the headline, of the quiet state where enough rounds were quiet.
    pub added: Added,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<Added>,
    /// Ticks below which this cell cannot be told from nothing.
    pub floor: f64,
    /// Ticks of one repetition of both, in each round; null where the sample was rejected.
    pub samples: Vec<Option<f64>>,
}

/// The median, over rounds, of a paired difference in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Added {
    pub state: State,
    /// Rounds in which both samples were kept, in this state.
    pub n: usize,
    /// The number of independent rounds that would know as much.
    pub effective_n: f64,
    pub ticks: f64,
    pub ci95: Interval,
}

/// What a cell can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The operation adds nothing that can be seen: the whole interval is within the floor.
    Nothing,
    /// It adds more than the floor, and the interval does not include 0.
    Adds,
    /// Neither is shown: the interval is too wide, or a bound does not exist.
    Unknown,
}

impl Cell {
    /// What the cell can tell.
    pub fn reading(&self) -> Reading {
        match self.added.ci95 {
            [Some(low), Some(high)] if low >= -self.floor && high <= self.floor => Reading::Nothing,
            [Some(low), Some(high)] if self.added.ticks.abs() > self.floor && (low > 0.0 || high < 0.0) => {
                Reading::Adds
            }
            _ => Reading::Unknown,
        }
    }

    /// Whether it is shown that the operation adds nothing that can be seen.
    pub fn is_nothing(&self) -> bool {
        self.reading() == Reading::Nothing
    }

    /// What the operation adds; 0 where that is nothing.
    pub fn ticks(&self) -> f64 {
        if self.is_nothing() { 0.0 } else { self.added.ticks }
    }

    /// What it adds at most, on either side of 0, by its interval; `None` if a bound does not exist.
    pub fn at_most(&self) -> Option<f64> {
        let [low, high] = self.added.ci95;
        Some(low?.abs().max(high?.abs()))
    }
}

impl Added {
    /// The greater distance of the figure to a bound; 0 if there is none.
    pub fn uncertainty(&self) -> f64 {
        let distances = self.ci95.into_iter().flatten().map(|bound| (bound - self.ticks).abs());
        distances.fold(0.0, f64::max)
    }
}

/// Ticks with no more decimals than two digits of `uncertainty`, and at most three.
pub fn ticks_text(ticks: f64, uncertainty: f64) -> String {
    let decimals = (1.0 - uncertainty.max(1e-9).log10().floor()).clamp(0.0, 3.0);
    format!("{ticks:.*}", decimals as usize)
}

/// What an operation adds, over the surroundings in which it was measured and the cell can tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Range<'a> {
    /// The least that it adds, and where.
    pub low: (f64, &'a str),
    /// The most that it adds, and where.
    pub high: (f64, &'a str),
    /// What it adds to nothing: its cost back to back; `None` if that cell cannot tell.
    pub back_to_back: Option<f64>,
    /// The surroundings in which it is shown to add nothing that can be seen.
    pub nothing_in: Vec<&'a str>,
    /// The surroundings in which the cell can tell.
    pub of: usize,
}

impl Range<'_> {
    /// Whether it adds nothing that can be seen in more than half of the surroundings.
    pub fn is_free_in_most(&self) -> bool {
        2 * self.nothing_in.len() > self.of
    }
}

/// The column that has no instructions: there, operations stand back to back.
pub const NOTHING: &str = "nothing";

impl Matrix {
    /// What the operation called `name` adds; `None` if no cell of it can tell.
    pub fn range(&self, name: &str) -> Option<Range<'_>> {
        let operation = self.operations.iter().find(|o| o.name == name)?;
        let mut cells: Vec<(f64, &str)> = self
            .measured(operation)
            .filter(|(_, cell)| cell.reading() != Reading::Unknown)
            .map(|(s, cell)| (cell.ticks(), s.name.as_str()))
            .collect();
        let back_to_back = cells.iter().find(|(_, at)| *at == NOTHING).map(|(ticks, _)| *ticks);
        // Stable, so that of equal cells the first in the table is named.
        cells.sort_by(|a, b| a.0.total_cmp(&b.0));
        let most = cells.last()?.0;
        Some(Range {
            low: *cells.first()?,
            high: *cells.iter().find(|(ticks, _)| *ticks == most)?,
            back_to_back,
            nothing_in: self
                .measured(operation)
                .filter(|(_, cell)| cell.is_nothing())
                .map(|(s, _)| s.name.as_str())
                .collect(),
            of: cells.len(),
        })
    }

    /// The least and the greatest floor of a cell, in ticks; `None` if nothing was measured.
    pub fn floors(&self) -> Option<[f64; 2]> {
        let cells = self.operations.iter().flat_map(|o| o.cells.iter().flatten());
        let floors: Vec<f64> = cells.map(|cell| cell.floor).collect();
        let least = floors.iter().copied().min_by(f64::total_cmp)?;
        Some([least, floors.iter().copied().max_by(f64::total_cmp)?])
    }

    /// The cells of an operation that were measured, each with its surroundings.
    pub fn measured<'a>(&'a self, operation: &'a Operation) -> impl Iterator<Item = (&'a Surrounding, &'a Cell)> {
        self.surroundings
            .iter()
            .zip(&operation.cells)
            .filter_map(|(s, cell)| Some((s, cell.as_ref()?)))
    }

    /// The cells as rows, called `operation/surroundings`, for programs that know rows only: what was added in each round.
    pub fn rows(&self) -> Vec<Variant> {
        self.operations
            .iter()
            .flat_map(|o| self.measured(o).map(move |(s, cell)| row(o, s, cell)))
            .collect()
    }
}

/// The row's mean, spread and median are those of all rounds; the headline and the other states have their own figures.
fn row(operation: &Operation, surrounding: &Surrounding, cell: &Cell) -> Variant {
    let both = cell.samples.iter().zip(&surrounding.samples);
    let samples: Vec<f64> = both.filter_map(|(with, alone)| Some((*with)? - (*alone)?)).collect();
    let n = samples.len();
    let mean = samples.iter().sum::<f64>() / n.max(1) as f64;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let figure = |added: &Added| Figure {
        state: added.state,
        n: added.n,
        median: added.ticks,
        ci95: added.ci95,
        effective_n: added.effective_n,
        ..Figure::default()
    };
    let mut sorted = samples.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    Variant {
        name: format!("{}/{}", operation.name, surrounding.name),
        n,
        rejected: cell.samples.len() - n,
        mean,
        sd: (squares / n.saturating_sub(1).max(1) as f64).sqrt(),
        median: match (sorted.get(n.saturating_sub(1) / 2), sorted.get(n / 2)) {
            (Some(below), Some(above)) => f64::midpoint(*below, *above),
            _ => f64::NAN,
        },
        min: sorted.first().copied().unwrap_or(f64::NAN),
        // Of the mean there is none; that of the median is the headline's.
        ci95: [f64::NAN; 2],
        headline: Some(figure(&cell.added)),
        states: cell.states.iter().map(figure).collect(),
        samples,
        ..Variant::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{added, cell, operation, surrounding};

    fn matrix(floor: f64, columns: &[(&str, f64)]) -> Matrix {
        let cell = |&(_, ticks): &(&str, f64)| {
            Some(Cell {
                samples: vec![Some(10.0 + ticks), None, Some(12.0 + ticks)],
                ..cell(added(ticks, 0.0), floor)
            })
        };
        let surrounding = |(name, _): &(&str, f64)| Surrounding {
            samples: vec![Some(10.0), Some(11.0), Some(12.0)],
            ..surrounding(name)
        };
        Matrix {
            copies: 8,
            surroundings: columns.iter().map(surrounding).collect(),
            operations: vec![operation("lock-inc64", columns.iter().map(cell))],
        }
    }

    #[test]
    fn the_range_has_its_ends_and_where_they_are() {
        let m = matrix(
            0.1,
            &[
                (NOTHING, 4.5),
                ("adds-30", 0.04),
                ("loads-chain-8", 2.1),
                ("loads-32", 0.3),
            ],
        );
        let range = m.range("lock-inc64").unwrap();
        assert_eq!(range.low, (0.0, "adds-30"), "below the floor is nothing");
        assert_eq!(range.high, (4.5, NOTHING));
        assert_eq!(range.back_to_back, Some(4.5));
        assert_eq!((range.nothing_in.as_slice(), range.of), (&["adds-30"][..], 4));
        assert!(!range.is_free_in_most());
        assert_eq!(m.range("no-such"), None);
    }

    #[test]
    fn nothing_in_more_than_half_of_the_surroundings_is_nothing_in_most() {
        let free =
            |floor: f64, added: &[(&str, f64)]| matrix(floor, added).range("lock-inc64").unwrap().is_free_in_most();
        let added = [(NOTHING, 4.5), ("adds-30", -0.04), ("adds-120", 0.1)];
        assert!(free(0.1, &added));
        // The twins: a floor that hides less, and exactly half.
        assert!(!free(0.05, &added));
        assert!(!free(
            0.1,
            &[(NOTHING, 4.5), ("adds-30", -0.04), ("adds-120", 0.1), ("loads-32", 0.3)]
        ));
    }

    #[test]
    fn nothing_is_what_the_whole_interval_says() {
        let cell = |ticks: f64, ci95: Interval| {
            let added = added(ticks, 0.0);
            cell(Added { ci95, ..added }, 3.5)
        };
        let wide = cell(3.3, [Some(1.0), Some(4.6)]);
        assert_eq!(cell(3.3, [Some(-3.5), Some(3.5)]).reading(), Reading::Nothing);
        assert_eq!((wide.reading(), wide.at_most()), (Reading::Unknown, Some(4.6)));
        assert_eq!(cell(0.0, [None, Some(0.1)]).reading(), Reading::Unknown);
        assert_eq!(cell(0.0, [None, Some(0.1)]).at_most(), None);
        assert_eq!(cell(9.5, [Some(8.0), Some(11.0)]).reading(), Reading::Adds);
        assert_eq!(cell(-4.0, [Some(-6.0), Some(2.0)]).reading(), Reading::Unknown);
    }

    #[test]
    fn cells_that_cannot_tell_are_in_no_range() {
        let mut m = matrix(0.1, &[(NOTHING, 4.5), ("adds-30", 0.04), ("l2-miss", 0.0)]);
        let wide = |m: &mut Matrix, at: usize| {
            let cell = m.operations[0].cells[at].as_mut().unwrap();
            cell.added.ci95 = [Some(-3.0), Some(3.0)];
        };
        assert!(m.range("lock-inc64").unwrap().is_free_in_most());
        wide(&mut m, 2);
        let range = m.range("lock-inc64").unwrap();
        assert_eq!((range.of, range.nothing_in.as_slice()), (2, &["adds-30"][..]));
        assert!(!range.is_free_in_most());
        wide(&mut m, 1);
        assert_eq!(m.range("lock-inc64").unwrap().low, (4.5, NOTHING));
        wide(&mut m, 0);
        assert_eq!(m.range("lock-inc64"), None);
    }

    #[test]
    fn text_has_the_digits_of_the_uncertainty() {
        assert_eq!(ticks_text(12.3456, 0.004), "12.346");
        assert_eq!(ticks_text(12.3456, 0.1), "12.35");
        assert_eq!(ticks_text(12.3456, 3.5), "12.3");
        assert_eq!(ticks_text(123.456, 35.0), "123");
        assert_eq!(ticks_text(0.5, 0.0), "0.500");
    }

    #[test]
    fn cells_not_measured_are_in_no_range() {
        let mut m = matrix(0.1, &[(NOTHING, 4.5), ("loads-32", 0.3)]);
        m.operations[0].cells[0] = None;
        let range = m.range("lock-inc64").unwrap();
        assert_eq!((range.of, range.high.0, range.back_to_back), (1, 0.3, None));
        assert_eq!(m.floors(), Some([0.1, 0.1]));
        m.operations[0].cells[1] = None;
        assert_eq!((m.range("lock-inc64"), m.floors()), (None, None));
    }

    #[test]
    fn a_row_has_the_differences_of_rounds_that_kept_both() {
        let rows = matrix(0.1, &[("loads-32", 0.5)]).rows();
        assert_eq!(rows[0].name, "lock-inc64/loads-32");
        assert_eq!(rows[0].samples, [0.5, 0.5]);
        assert_eq!((rows[0].n, rows[0].rejected, rows[0].median), (2, 1, 0.5));
    }

    #[test]
    fn a_rows_mean_and_median_are_of_all_rounds_and_the_interval_is_the_headlines() {
        let mut m = matrix(0.1, &[("loads-32", 0.5)]);
        let cell = m.operations[0].cells[0].as_mut().unwrap();
        cell.added = Added {
            ticks: 0.25,
            ci95: [None, Some(0.5)],
            ..Added::default()
        };
        cell.samples[2] = Some(13.5);
        let row = &m.rows()[0];
        assert_eq!((row.mean, row.median), (1.0, 1.0));
        assert!(row.ci95.iter().all(|bound| bound.is_nan()), "never of zero width");
        let headline = row.headline.as_ref().unwrap();
        assert_eq!((headline.median, headline.ci95), (0.25, [None, Some(0.5)]));
    }
}
