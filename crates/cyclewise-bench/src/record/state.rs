//! What the probe saw beside the samples, and figures told apart by it.

use super::{Interval, Mode, State};
use serde::{Deserialize, Serialize};

/// What the probe saw during an experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probe {
    /// The probe's figure in each round: the median of all its runs in that round, ticks per iteration of its loop.
    pub rounds: Vec<f64>,
    /// The state of each round as letters (`q`, `b`, `m`); empty if the probe shows one state.
    #[serde(default)]
    pub states: String,
    /// The states told apart; one entry with [`State::All`] if the probe shows one.
    pub levels: Vec<Level>,
}

impl Probe {
    /// The share of rounds in `state`; `None` if the probe shows one state.
    pub fn share(&self, state: State) -> Option<f64> {
        let level = self.levels.iter().find(|l| l.state == state);
        (!self.states.is_empty()).then(|| level.map_or(0.0, |l| l.share))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    pub state: State,
    /// The probe's median in it, ticks per iteration.
    pub median: f64,
    /// Its share of the rounds.
    pub share: f64,
}

/// A variant's figure in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    pub state: State,
    /// Samples kept in it.
    pub n: usize,
    /// Their median, in the experiment's unit.
    pub median: f64,
    /// 95 % interval of the median; it takes the dependence of the samples into account.
    pub ci95: Interval,
    /// The number of independent samples that would know as much.
    pub effective_n: f64,
    /// Correlation of a sample with the next.
    pub autocorrelation: Option<f64>,
    /// The modes, if there are several, by value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Whether the time is linear in the copies in this state; `None` if the row has no copies, or too few samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear: Option<bool>,
}

/// The batch times behind the samples: of each loop, the median of a sample's batches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    pub iterations: u64,
    /// Copies in one iteration of each loop: U, 2U, 4U; zeroes for the empty loop, which runs N, 2N and 4N iterations.
    pub copies: [u32; 3],
    /// Ticks of each loop, one value per kept sample.
    pub ticks: [Vec<u64>; 3],
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    pub round: usize,
    /// Its value, in the experiment's unit; `None` if sampling failed.
    pub value: Option<f64>,
    /// The reason: `preempted`, `migrated`, `stolen`, `clock`, `failed`.
    pub reason: String,
}
