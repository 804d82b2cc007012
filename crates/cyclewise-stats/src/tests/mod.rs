//! Tests of the formulas: published figures, laws, and error rates in simulations.

mod laws;
mod published;
pub(super) mod rates;
mod verdicts;

/// Rounds that lost no sample.
pub(super) fn complete(pairs: &[(f64, f64)]) -> Vec<(Option<f64>, Option<f64>)> {
    pairs.iter().map(|&(a, b)| (Some(a), Some(b))).collect()
}
