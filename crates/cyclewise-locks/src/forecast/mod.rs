//! What a program would gain from each remedy: an interval of time, never a promise.
//!
//! `remedies` says which executions become cheaper, `estimate` prices them by `price` and `line` from the matrix's `rows` and
//! `columns`, `model` makes intervals of that, `truth` has programs whose truth was measured, from which `stats` computes the model's own error, and `answer`
//! says it in a line.
//!
//! # Interval
//! It is around the mean of the plausible mixes. Its half-widths are, together as of independent errors: the optimistic and
//! the pessimistic mix, the 95 % intervals of the matrix's cells, the model's error, and of sampled counts the error of
//! sampling. It never goes beyond the price back to back, nor below what eliding costs in the column where that costs most: a
//! lower end below 0 means that the program may become slower.

mod answer;
mod columns;
mod costs;
mod estimate;
mod kind;
mod line;
mod model;
mod outcome;
mod price;
mod remedies;
mod rows;
mod stats;
#[cfg(test)]
mod tests;
mod truth;

use crate::profile::Profile;
use estimate::{HotSite, Pace};
use model::Model;
use truth::KNOWN;

pub use costs::{Costs, OperationCost, Surroundings, Ticks};
pub use outcome::{Forecast, NativeTime, Remedy, RemedyForecast, Verdict};

/// No forecast, for this reason: counts of a run that did something else than the program does say nothing about it.
pub fn refused(why: &str) -> Forecast {
    Forecast {
        verdict: Verdict::CannotTell,
        answer: format!("no forecast: {why}"),
        remedies: Vec::new(),
        native: None,
        basis: Vec::new(),
    }
}

/// Forecasts what each remedy would save in a run like this one.
///
/// Without the program's own time there are seconds and no shares; without a matrix of this machine the intervals are wide.
pub fn forecast(profile: &Profile, costs: &Costs, native: Option<&NativeTime>) -> Forecast {
    let is_short = native.is_some_and(|n| n.user_s < answer::SHORTEST_S);
    let native = native.filter(|n| n.user_s > 0.0 && n.user_s.is_finite());
    let sites: Vec<HotSite> = profile
        .sites
        .iter()
        .map(|s| HotSite::new(s, s.executed as f64))
        .collect();
    let model = Model {
        costs,
        pace: Pace::new(costs, profile.instructions as f64, native.map(|n| n.user_s), &sites),
        error: KNOWN.error,
        native,
        method: &profile.method,
    };
    let mut notes = Vec::new();
    let applied = remedies::all(profile);
    let mut remedies: Vec<RemedyForecast> = applied.into_iter().map(|a| model.remedy(a, &mut notes)).collect();
    remedies.sort_by(|a, b| b.saved_s[1].total_cmp(&a.saved_s[1]));
    let hint = if costs.operations.is_empty() {
        "; `cyclewise run in-context` measures this machine's matrix"
    } else {
        ""
    };
    let (verdict, answer) = answer::decide(profile, &remedies, is_short, hint);
    notes.extend(remedies::striping(profile));
    Forecast {
        verdict,
        answer,
        remedies,
        native: native.copied(),
        basis: model.basis(notes),
    }
}
