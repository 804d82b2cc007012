//! Machines whose rows together are not like their group's, where each of them may be.
//!
//! The formulas, and what the null distribution is, are in `together.rs` of `cyclewise-stats`. A row speaks where it is on the machine's side by
//! [`SPEAKS`] standard deviations. A machine is named only if two of the rows that speak make a difference ([`Row::is_apart`]).

use super::columns::Fleet;
use super::row::Row;
use super::{evidence, words};
use crate::record::fleet_report::Together;
use crate::stats;

/// The fewest machines that show what is usual.
const FEWEST: usize = 12;

/// A row speaks from the quantile 0.95 on.
const SPEAKS: f64 = 1.644_853_626_951_472;

/// The most rows that a sentence names.
const MOST_ROWS: usize = 8;

/// What the rows of one machine say.
pub(super) struct Statement {
    pub machine: usize,
    pub sigmas: f64,
    /// One-sided.
    pub p: f64,
    pub slower: bool,
    /// The rows that speak, the farthest first: place among the rows, and index in the row.
    speaking: Vec<(usize, usize)>,
}

/// One statement for each machine of at least two rows that were tested; none of few machines. `far` has how far each value of each row is,
/// with how many degrees of freedom, and `p_of` makes p of such distances.
pub(super) fn statements(
    rows: &[Row],
    far: &[Vec<Option<(f64, f64)>>],
    fleet: &Fleet,
    p_of: impl Fn(&[(f64, f64)]) -> Vec<f64>,
) -> Vec<Statement> {
    let mut of_machine: Vec<Vec<(f64, usize, usize)>> = vec![Vec::new(); fleet.machines.len()];
    for (place, row) in rows.iter().enumerate() {
        let sign = if row.spread.unit.more_is_faster() { -1.0 } else { 1.0 };
        let tested = far[place].iter().enumerate().filter_map(|(i, far)| Some((i, (*far)?)));
        for (i, (sigmas, df)) in tested {
            let machine = row.spread.values[i].machine as usize;
            of_machine[machine].push((sign * stats::normal_score(sigmas, df), place, i));
        }
    }
    let scores: Vec<Vec<f64>> = of_machine
        .iter()
        .map(|rows| rows.iter().map(|row| row.0).collect())
        .collect();
    let correlation = stats::correlation(&scores);
    let said = scores.iter().map(|scores| stats::together(scores, correlation));
    let said: Vec<(usize, f64, bool)> = said
        .enumerate()
        .filter_map(|(machine, said)| said.map(|(score, slower)| (machine, score, slower)))
        .collect();
    if said.len() < FEWEST {
        return Vec::new();
    }
    let far = stats::beyond_usual(&said.iter().map(|said| said.1).collect::<Vec<_>>());
    let p = p_of(&far);
    let statement = |place: usize| {
        let (machine, _, slower) = said[place];
        let sign = if slower { 1.0 } else { -1.0 };
        let mut speaking: Vec<_> = of_machine[machine]
            .iter()
            .filter(|row| sign * row.0 >= SPEAKS)
            .collect();
        speaking.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
        let speaking: Vec<(usize, usize)> = speaking.into_iter().map(|row| (row.1, row.2)).collect();
        let apart = speaking.iter().filter(|(place, i)| rows[*place].is_apart(*i));
        let sigmas = far[place].0;
        let says_something = sigmas > 0.0 && apart.count() >= 2;
        Statement {
            machine,
            sigmas,
            p: if says_something { p[place] / 2.0 } else { 1.0 },
            slower,
            speaking,
        }
    };
    (0..said.len()).map(statement).collect()
}

impl Statement {
    /// What it says, for the JSON.
    pub(super) fn told(&self, rows: &[Row], q: f64) -> Together {
        let row = |&(place, i): &(usize, usize)| {
            let row = &rows[place];
            (row.spread.experiment.clone(), row.spread.variant.clone(), row.ratio(i))
        };
        Together {
            rows: self.speaking.iter().map(row).collect(),
            sigmas: self.sigmas,
            p: self.p,
            q,
        }
    }

    /// The same in a sentence.
    pub(super) fn sentence(&self, rows: &[Row], fleet: &Fleet) -> String {
        let machine = self.machine as u32;
        let tested = rows.iter().filter(|row| {
            let value = row.spread.values.binary_search_by_key(&machine, |value| value.machine);
            value.is_ok_and(|i| row.spread.distances.get(i).is_some_and(|far| !far.p.is_nan()))
        });
        let mut parts: Vec<String> = Vec::new();
        for &(place, i) in self.speaking.iter().take(MOST_ROWS) {
            let (spread, ratio) = (&rows[place].spread, rows[place].ratio(i));
            let name = words::row(&spread.experiment, &spread.variant);
            parts.push(format!(
                "{name} {} times{}",
                words::times(ratio),
                words::sense(spread.unit, ratio)
            ));
        }
        let more = self.speaking.len().saturating_sub(MOST_ROWS);
        if more > 0 {
            parts.push(format!("{more} more"));
        }
        parts.extend(evidence::of_machine(self.machine, fleet));
        format!(
            "{}: {} than its group in {} of {} headline rows together: {}",
            fleet.machines[self.machine].name,
            if self.slower { "slower" } else { "faster" },
            self.speaking.len(),
            tested.count(),
            parts.join(", ")
        )
    }
}
