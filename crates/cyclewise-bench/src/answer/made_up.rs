//! A comparison for tests of this package and of those that put comparisons in words.

#[cfg(test)]
use super::Finding;
#[cfg(test)]
use crate::record::Unit;
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

/// A comparison of `a` with `b`, whose ratio is known to this share on either side.
pub fn pair(a: &str, b: &str, verdict: Verdict, ratio: f64, share: f64) -> Comparison {
    Comparison {
        a: a.to_owned(),
        b: b.to_owned(),
        ..comparison(verdict, ratio, [ratio * (1.0 - share), ratio * (1.0 + share)])
    }
}

/// What is said of a comparison of times: a cell of a table, a sentence, and what it costs.
#[cfg(test)]
pub(super) fn said(c: &Comparison) -> [String; 3] {
    let finding = Finding::of_comparison(c, Unit::TicksPerOp);
    [
        format!("{} {}: {}", finding.times(), finding.b, finding.verdict()),
        finding.sentence(),
        finding.cost().unwrap_or_else(|| "no cost".to_owned()),
    ]
}
