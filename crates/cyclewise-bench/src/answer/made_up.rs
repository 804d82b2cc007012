//! A comparison for tests of this package and of those that put comparisons in words.

use crate::record::{Comparison, Paired, State, Verdict};

/// A comparison of `lock` with `ds`, as a run writes it.
pub fn comparison(verdict: Verdict, ratio: f64, ci: [f64; 2]) -> Comparison {
    Comparison {
        a: "lock".to_owned(),
        b: "ds".to_owned(),
        headline: Some(Paired {
            state: State::Quiet,
            ratio,
            ratio_ci95: ci.map(Some),
            ..Paired::default()
        }),
        verdict,
        ..Comparison::default()
    }
}
