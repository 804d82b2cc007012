//! What the probe saw beside the samples, and figures told apart by it.

use super::Interval;
use serde::{Deserialize, Serialize};

/// The state of the neighbour: whatever shares this core with the measured thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Not told apart: the probe shows one state, or there is no probe.
    #[default]
    All,
    /// The probe ran at its full speed.
    Quiet,
    /// The probe was slowed.
    Busy,
    /// Some of the sample's probes were slowed.
    Mixed,
}

impl State {
    /// The state's name in the JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            State::All => "all",
            State::Quiet => "quiet",
            State::Busy => "busy",
            State::Mixed => "mixed",
        }
    }

    /// The letter of [`Variant::sample_states`](super::Variant::sample_states).
    pub fn letter(self) -> char {
        match self {
            State::All => 'a',
            State::Quiet => 'q',
            State::Busy => 'b',
            State::Mixed => 'm',
        }
    }

    /// The state of a letter.
    pub fn of_letter(letter: char) -> Option<Self> {
        [State::All, State::Quiet, State::Busy, State::Mixed]
            .into_iter()
            .find(|state| state.letter() == letter)
    }
}

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

/// One state of the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// The state.
    pub state: State,
    /// The probe's median in it, ticks per iteration.
    pub median: f64,
    /// Its share of the rounds.
    pub share: f64,
}

/// A variant's figure in one state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The state.
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

/// One of several values around which samples lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// The median of the mode's samples.
    pub value: f64,
    /// Its share of the samples.
    pub share: f64,
}

/// Whether a row's time is linear in its copies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Linearity {
    /// Copies in one iteration of each loop, or iterations for a row without copies: U, 2U, 4U.
    pub copies: [f64; 3],
    /// The median time of each loop, divided by its copies: loop and stamps included.
    pub per_copy: [f64; 3],
    /// The slope from U to 2U and from 2U to 4U, per copy.
    pub slopes: [f64; 2],
    /// The result; `None` if there are too few samples.
    pub linear: Option<bool>,
    /// Why the row is not linear, or why that is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The batch times behind the samples: of each loop, the median of a sample's batches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batches {
    /// Iterations of the loop.
    pub iterations: u64,
    /// Copies in one iteration of each loop: U, 2U, 4U; zeroes for the empty loop, which runs N, 2N and 4N iterations.
    pub copies: [u32; 3],
    /// Ticks of each loop, one value per kept sample.
    pub ticks: [Vec<u64>; 3],
}

/// A rejected sample.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// Its round.
    pub round: usize,
    /// Its value, in the experiment's unit; `None` if sampling failed.
    pub value: Option<f64>,
    /// The reason: `preempted`, `migrated`, `stolen`, `clock`, `failed`.
    pub reason: String,
}
