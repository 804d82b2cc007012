//! Samples by the rounds that they are of, so that those of two rows can be paired.

use super::{Batches, State, Variant};
use std::ops::Range;

/// The value of each round with the round's state, up to the last that was kept. `values` has one for each kept sample.
fn by_round(v: &Variant, values: &[f64]) -> Vec<Option<(f64, State)>> {
    let mut states = v.sample_states.chars().map(State::of_letter);
    let mut rejected = v.rejected_rounds.clone();
    rejected.sort_unstable();
    let mut rounds = Vec::new();
    for value in values {
        while rejected.binary_search(&rounds.len()).is_ok() {
            rounds.push(None);
        }
        let state = states.next().flatten().unwrap_or_default();
        rounds.push(Some((*value, state)));
    }
    rounds
}

impl Variant {
    /// The row with the samples of these rounds alone, which are counted anew; its figures are those of all.
    pub(crate) fn of_rounds(&self, rounds: Range<usize>) -> Self {
        let all = by_round(self, &self.samples);
        let kept_before = |round: usize| all.iter().take(round).flatten().count();
        let kept = kept_before(rounds.start)..kept_before(rounds.end);
        let rejected = self.rejected_rounds.iter().filter(|round| rounds.contains(round));
        let batches = self.batches.as_ref().map(|b| Batches {
            ticks: b
                .ticks
                .each_ref()
                .map(|ticks| ticks.get(kept.clone()).unwrap_or_default().to_vec()),
            ..b.clone()
        });
        Self {
            samples: self.samples[kept.clone()].to_vec(),
            sample_states: self.sample_states.get(kept).unwrap_or_default().to_string(),
            rejected_rounds: rejected.map(|round| round - rounds.start).collect(),
            batches,
            ..self.clone()
        }
    }

    /// Those of these values, one for each kept sample, that are of a state.
    pub(crate) fn samples_in(&self, state: State, values: &[f64]) -> Vec<f64> {
        let mut states = self.sample_states.chars().map(State::of_letter);
        let all = values.iter().copied();
        all.filter(|_| {
            let own = states.next().flatten().unwrap_or_default();
            state == State::All || own == state
        })
        .collect()
    }
}

/// The pairs of a state's rounds that kept both; mixed are those in which the two samples' states differ.
pub fn pairs(a: (&Variant, &[f64]), b: (&Variant, &[f64]), wanted: State) -> Vec<(f64, f64)> {
    let rounds = by_round(a.0, a.1).into_iter().zip(by_round(b.0, b.1));
    rounds
        .filter_map(|(a, b)| {
            let ((a, of_a), (b, of_b)) = (a?, b?);
            let state = if of_a == of_b { of_a } else { State::Mixed };
            (wanted == State::All || state == wanted).then_some((a, b))
        })
        .collect()
}
