//! What a row of another experiment adds among other instructions, and two such rows compared there.
//!
//! The experiment `in-context` has operations that other experiments repeat in loops. Its first column is such a loop, too, and
//! is part of no range among other instructions.

use super::matrix::{Cell, Matrix, NOTHING, Operation, Reading};
use super::{Experiment, Reason, Record, State, Test, Verdict};
use crate::stats::{self, Decision, Median};
use serde::{Deserialize, Serialize};

/// Two operations in each of the surroundings in which both were measured. What is not counted is not known: the interval is too wide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Among {
    /// The surroundings to which the first adds less.
    pub less: Vec<String>,
    pub more: Vec<String>,
    /// Those in which the two are the same, within the floors of their cells.
    pub same: usize,
    pub of: usize,
}

/// A row by experiment and variant.
pub type RowName<'a> = [&'a str; 2];

impl Matrix {
    /// The operation that a row repeats back to back.
    pub fn operation_of(&self, [experiment, variant]: RowName<'_>) -> Option<&Operation> {
        let is_row = |row: &[String; 2]| row[0] == experiment && row[1] == variant;
        self.operations.iter().find(|o| o.loop_row.as_ref().is_some_and(is_row))
    }
}

impl Record {
    /// The least and the most that a row's operation adds among other instructions, in ticks, where cells can tell; `None` if it
    /// was not measured there.
    pub fn adds_among(&self, row: RowName<'_>) -> Option<[f64; 2]> {
        let matrix = self.in_context()?.1;
        let cells = matrix.measured(matrix.operation_of(row)?);
        let told = cells.filter(|(s, cell)| s.name != NOTHING && cell.reading() != Reading::Unknown);
        let ticks: Vec<f64> = told.map(|(_, cell)| cell.ticks()).collect();
        let least = ticks.iter().copied().min_by(f64::total_cmp)?;
        Some([least, ticks.iter().copied().max_by(f64::total_cmp)?])
    }

    /// Two rows of an experiment among other instructions; `None` if one of them was not measured there.
    pub fn among(&self, a: RowName<'_>, b: RowName<'_>) -> Option<Among> {
        let (e, matrix) = self.in_context()?;
        let (a, b) = (matrix.operation_of(a)?, matrix.operation_of(b)?);
        let mut among = Among::default();
        for (surrounding, (x, y)) in matrix.surroundings.iter().zip(a.cells.iter().zip(&b.cells)) {
            let (Some(x), Some(y)) = (x, y) else { continue };
            among.of += 1;
            match compared(e, x, y) {
                Some(Sign::Less) => among.less.push(surrounding.name.clone()),
                Some(Sign::More) => among.more.push(surrounding.name.clone()),
                Some(Sign::Same) => among.same += 1,
                None => {}
            }
        }
        (among.of > 0).then_some(among)
    }
    fn in_context(&self) -> Option<(&Experiment, &Matrix)> {
        self.experiments.iter().find_map(|e| Some((e, e.matrix()?)))
    }
}

impl Among {
    /// Whether the two differ somewhere among other instructions, and nowhere the other way. Back to back is a loop of its own, which
    /// can contradict and shows nothing else.
    pub fn agrees(&self, less: bool) -> bool {
        let (with, against) = match less {
            true => (&self.less, &self.more),
            false => (&self.more, &self.less),
        };
        against.is_empty() && with.iter().any(|at| at != NOTHING)
    }

    /// Whether no difference is shown.
    pub fn is_same(&self) -> bool {
        self.less.is_empty() && self.more.is_empty() && self.same > 0
    }

    /// Takes back what loops of all lengths say, if what the two add among other instructions does not agree.
    pub fn hold(&self, decision: Decision) -> Decision {
        let agrees = match decision.verdict {
            Verdict::Faster => self.agrees(true),
            Verdict::Slower => self.agrees(false),
            Verdict::Same => self.is_same(),
            Verdict::Undecided | Verdict::None | Verdict::Depends => return decision,
        };
        let mut tests = decision.tests;
        tests.push(Test {
            name: "among other instructions".to_string(),
            seen: self.in_words(),
            // Whether it agrees that there is a difference.
            passed: agrees == decision.verdict.is_claim(),
        });
        if agrees {
            return Decision { tests, ..decision };
        }
        Decision {
            verdict: Verdict::Undecided,
            reason: Some(Reason::not_linear(format_args!(
                ": {} at every length, but among other instructions {}",
                decision.verdict.in_words(),
                self.in_words()
            ))),
            tests,
        }
    }

    /// `less in 3, more in 1, the same in 9 of 14 surroundings`.
    pub fn in_words(&self) -> String {
        let counts = [
            (self.less.len(), "less"),
            (self.more.len(), "more"),
            (self.same, "the same"),
        ];
        let told: Vec<String> = counts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{what} in {n}"))
            .collect();
        match told.is_empty() {
            true => format!("cannot be told apart in {} surroundings", self.of),
            false => format!("{} of {} surroundings", told.join(", "), self.of),
        }
    }
}

/// What the difference of two cells shows.
enum Sign {
    Less,
    More,
    Same,
}

/// Two operations in one column, by the differences of rounds: what they surround cancels. Quiet rounds count where enough are.
fn compared(e: &Experiment, x: &Cell, y: &Cell) -> Option<Sign> {
    let letters: Vec<char> = e.probe.as_ref().map_or("", |p| &p.states).chars().collect();
    let rounds = x.samples.iter().zip(&y.samples).enumerate();
    let differences = |wanted: State| -> Vec<f64> {
        let of_state = |i: usize| wanted == State::All || letters.get(i) == Some(&wanted.letter());
        let rounds = rounds.clone().filter(|(i, _)| of_state(*i));
        rounds.filter_map(|(_, (x, y))| Some((*x)? - (*y)?)).collect()
    };
    let quiet = Median::of_series(&differences(State::Quiet)).filter(|m| m.dependence.effective_n >= stats::ENOUGH);
    let median = quiet.or_else(|| Median::of_series(&differences(State::All)))?;
    let floor = x.floor.max(y.floor);
    match median.interval(0.95) {
        [Some(low), Some(high)] if low >= -floor && high <= floor => Some(Sign::Same),
        [_, Some(high)] if high < 0.0 && median.median < -floor => Some(Sign::Less),
        [Some(low), _] if low > 0.0 && median.median > floor => Some(Sign::More),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Probe;
    use crate::record::made_up::{in_context, record_of};

    fn record(columns: &[(&str, f64, f64)]) -> Record {
        record_of(vec![in_context(columns)])
    }

    const A: RowName<'_> = ["e", "a"];
    const B: RowName<'_> = ["e", "b"];

    #[test]
    fn the_range_among_others_leaves_back_to_back_out() {
        let r = record(&[(NOTHING, 9.0, 1.0), ("adds-30", 0.02, 1.0), ("loads-32", 2.1, 1.0)]);
        assert_eq!(r.adds_among(A), Some([0.0, 2.1]));
        assert_eq!(r.adds_among(["e", "c"]), None);
        assert_eq!(Record::default().adds_among(A), None);
        let alone = record(&[(NOTHING, 9.0, 1.0)]);
        assert_eq!(alone.adds_among(A), None, "a loop is no other instruction");
    }

    #[test]
    fn two_rows_agree_where_no_cell_contradicts_and_one_shows_it() {
        let less = record(&[(NOTHING, 1.0, 5.0), ("adds-30", 0.0, 0.0), ("loads-32", 0.5, 2.0)]);
        let among = less.among(A, B).unwrap();
        assert_eq!((among.less.len(), among.more.len(), among.same, among.of), (2, 0, 1, 3));
        assert!(among.agrees(true) && !among.agrees(false) && !among.is_same());
        assert_eq!(among.in_words(), "less in 2, the same in 1 of 3 surroundings");
        let turned = less.among(B, A).unwrap();
        assert!(turned.agrees(false) && !turned.agrees(true));
        // The twins: a cell that contradicts, and a difference that only the loop shows.
        let both = record(&[("stores-16", 3.0, 2.0), ("loads-32", 0.5, 2.0)])
            .among(A, B)
            .unwrap();
        assert!(!both.agrees(true) && !both.agrees(false));
        let looped = record(&[(NOTHING, 1.0, 5.0), ("adds-30", 0.0, 0.0)])
            .among(A, B)
            .unwrap();
        assert!(!looped.agrees(true));
        let same = record(&[("adds-30", 0.0, 0.05), ("loads-32", 2.0, 2.0)])
            .among(A, B)
            .unwrap();
        assert!(same.is_same() && !looped.is_same());
        assert_eq!(less.among(A, ["e", "c"]), None);
    }

    #[test]
    fn quiet_rounds_count_where_enough_are() {
        let mut r = record(&[("loads-32", 0.5, 2.0)]);
        let e = &mut r.experiments[0];
        let busy = |round: usize| round % 10 >= 3;
        e.probe = Some(Probe {
            states: (0..100).map(|round| if busy(round) { 'b' } else { 'q' }).collect(),
            ..Probe::default()
        });
        let cells = |e: &mut Experiment, of_busy: f64| {
            let cell = e.body.matrix_mut().unwrap().operations[0].cells[0].as_mut().unwrap();
            let ticks = |round: usize| if busy(round) { of_busy } else { 0.5 } + 0.001 * (round * 7 % 11) as f64;
            cell.samples = (0..100).map(|round| Some(20.0 + ticks(round))).collect();
        };
        cells(e, 9.0);
        let other = e.body.matrix_mut().unwrap().operations[1].cells[0].as_mut().unwrap();
        other.samples = (0..100).map(|_| Some(22.0)).collect();
        assert!(r.among(A, B).unwrap().agrees(true));
        // The twin: without the states, most rounds say the opposite.
        r.experiments[0].probe = None;
        assert!(r.among(A, B).unwrap().agrees(false));
    }
}
