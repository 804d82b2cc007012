//! Comparisons of rows of which one is not linear in its copies: in loops of each length, and among other instructions.

use crate::record::{self, Among, Comparison, Paired, Record, State, Variant};
use crate::stats::{self, PairAt};

/// The comparison with its figures at each length, in the states in which one of the two is not linear.
pub(super) fn with_lengths(mut c: Comparison, variants: &[Variant]) -> Comparison {
    let row = |name: &str| variants.iter().find(|v| v.name == name);
    if let (Some(a), Some(b)) = (row(&c.a), row(&c.b)) {
        let states = c.headline.iter().chain(&c.states).map(|p| p.state);
        let bent: Vec<State> = states.filter(|s| a.is_bent_in(*s) || b.is_bent_in(*s)).collect();
        c.lengths = record::pairs_at_lengths(a, b, &bent, 1.0);
    }
    c
}

/// The p of what decides in a state: where that is each length, the largest of them.
pub(super) fn largest_p(c: &Comparison, paired: &Paired) -> f64 {
    let at = c.at_lengths(paired.state).into_iter();
    at.map(|(_, paired)| paired.p).reduce(f64::max).unwrap_or(paired.p)
}

/// The two rows of each comparison among other instructions, where its lengths decide.
pub(super) fn among_others(record: &Record) -> Vec<Option<Among>> {
    let all = record
        .experiments
        .iter()
        .flat_map(|e| e.comparisons.iter().map(move |c| (e, c)));
    all.map(|(e, c)| {
        let measured = || record.among([&e.name, &c.a], [&e.name, &c.b]);
        (!c.lengths.is_empty()).then(measured).flatten()
    })
    .collect()
}

/// What decides on two rows in a state: their figures at each length, with the larger cost; empty where slopes do.
pub(super) fn pairs<'c>([a, b]: [&Variant; 2], c: &'c Comparison, state: State) -> Vec<PairAt<'c>> {
    let at = c.at_lengths(state).into_iter().enumerate();
    at.map(|(length, (copies, paired))| {
        let median = |v: &Variant| stats::median(v.samples_at(length, state).into_iter()).unwrap_or(0.0);
        PairAt {
            copies,
            paired,
            cost: median(a).max(median(b)),
        }
    })
    .collect()
}
