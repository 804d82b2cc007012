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
mod estimate;
mod line;
mod model;
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
use serde::{Deserialize, Serialize};
use truth::KNOWN;

/// What operations cost on this machine: the matrix of the lab's experiment `in-context`, without its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Where it was measured: the CPU's name.
    pub cpu: String,
    /// Nanoseconds a tick.
    pub tick_ns: f64,
    /// The columns.
    pub surroundings: Vec<Surroundings>,
    /// The rows.
    pub operations: Vec<OperationCost>,
}

/// The code around an operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Its name in the matrix: `adds-30`.
    pub name: String,
    /// Ticks of one repetition alone.
    pub own_ticks: f64,
}

/// What an operation adds to surroundings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationCost {
    /// Its name in the matrix: `lock-inc64`.
    pub name: String,
    /// Ticks that it adds to each of the surroundings, and the 95 % interval; none where the cell cannot tell.
    pub added: Vec<Option<Ticks>>,
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ticks {
    /// The median.
    pub ticks: f64,
    /// The interval.
    pub ci95: [f64; 2],
}

/// The program's own time, without any emulator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NativeTime {
    /// Seconds that its processes spent in user mode: the median of the runs.
    pub user_s: f64,
    /// The lowest and the highest of the runs.
    pub range: [f64; 2],
    /// How many runs.
    pub runs: u32,
}

/// What a program would gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Whether a remedy brings 1 % or more.
    pub verdict: Verdict,
    /// One line that says so, or that it is not worth it, or what to measure.
    pub answer: String,
    /// Each remedy, the one that may bring most first.
    pub remedies: Vec<RemedyForecast>,
    /// The program's time that shares are of; none where it is not known, and then there are seconds only.
    pub native: Option<NativeTime>,
    /// The model, its error and on which programs that was found, a line each.
    pub basis: Vec<String>,
}

/// Whether a remedy is worth its work. What no remedy can exceed ([`Remedy::NoLock`]) is not one and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The lower end of a remedy's interval is 1 % of the program's user time, or more.
    WorthIt,
    /// The upper end of every remedy's interval is below 1 %.
    NotWorthIt,
    /// Neither, or the program's time is not known.
    CannotTell,
}

/// A change to the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// LOCK elided until a second thread exists: single mode.
    SingleMode,
    /// Counts that one thread only touches, without LOCK: Rc in place of Arc.
    PlainCounts,
    /// Counters that many threads add to, by a word for each CPU.
    PerCpuCounter,
    /// Half of the clones and drops at the hottest places, by borrowing.
    FewerClones,
    /// Every locked instruction without LOCK: what no remedy can exceed.
    NoLock,
}

/// What one remedy would bring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemedyForecast {
    /// The remedy.
    pub remedy: Remedy,
    /// Indexes into the profile's sites, of those it applies to.
    pub sites: Vec<usize>,
    /// Their executions that it would make cheaper.
    pub executed: u64,
    /// Seconds saved: the least and the most that is plausible.
    pub saved_s: [f64; 2],
    /// The same as a share of the program's time, in percent.
    pub saved_percent: Option<[f64; 2]>,
    /// Seconds saved if each execution cost what it costs back to back: the upper bound.
    pub back_to_back_s: f64,
    /// The same in percent.
    pub back_to_back_percent: Option<f64>,
    /// What it rests on, and what would have to hold in the program.
    pub condition: String,
}

/// Forecasts what each remedy would save in a run like this one.
///
/// Without the program's own time there are seconds and no shares; without a matrix of this machine the intervals are wide.
pub fn forecast(profile: &Profile, costs: &Costs, native: Option<&NativeTime>) -> Forecast {
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
    let (verdict, answer) = answer::decide(profile, &remedies, hint);
    Forecast {
        verdict,
        answer,
        remedies,
        native: native.copied(),
        basis: model.basis(notes),
    }
}
