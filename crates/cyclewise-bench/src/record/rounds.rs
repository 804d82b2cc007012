//! Samples by the rounds that they are of, so that those of two rows can be paired.

use super::{State, Variant};

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
