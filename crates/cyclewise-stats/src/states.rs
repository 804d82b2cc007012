//! The state of the neighbour, from a probe that the neighbour slows and the measured row does not.
//!
//! A core's hardware threads share its execution units, and the state of the other one lasts for milliseconds to minutes.
//! The probe (a loop of one cycle, beside each batch) runs at full speed while the other is idle. The lowest mode of all
//! probes of an experiment is its full speed, the quiet state; whatever lies beyond the valley above it was slowed. The
//! valley is that of [`modes`](mod@super::modes), with 2 % of the probes on each side at least. A mode less than
//! [`LEAST_SLOWDOWN`] above the quiet one is part of it.
//!
//! # Invariants
//! 1. A state follows from probes alone. No sample's value is looked at, so that nothing is chosen by its result.
//! 2. Where the probes show one state, there is one.
//!
//! # The clock's frequency
//! The counter does not follow the core's clock. Where the add chain is sampled in each round, probes are divided by its
//! ticks per cycle, and a frequency that drifts or steps moves both alike. Elsewhere a slow drift leaves no valley,
//! and a step of up to [`LEAST_SLOWDOWN`] is none either.

use super::modes;
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

    /// The letter of a record's samples.
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

/// The least share of the probes in a state.
const LEAST_SHARE: f64 = 0.02;

/// The least slowdown of the probe that is a state: a step of a core's frequency (100 MHz of 2.5 GHz) is smaller or equal.
const LEAST_SLOWDOWN: f64 = 0.04;

/// The share of a sample's probes that must show a state for the sample to be in it: nearly all.
const NEARLY_ALL: f64 = 0.9;

/// The probe's figure above which it was slowed; `None` if the probes show one state.
pub fn probe_cut(probes: &[f64]) -> Option<f64> {
    let cuts = modes::cuts(probes, LEAST_SHARE);
    // The quiet mode has everything below the first valley beyond which the probe is slower by enough.
    cuts.iter().enumerate().find_map(|(i, &cut)| {
        let next = cuts.get(i + 1).copied().unwrap_or(f64::INFINITY);
        let quiet = median(probes.iter().copied().filter(|p| *p <= cut))?;
        let slowed = median(probes.iter().copied().filter(|p| *p > cut && *p <= next))?;
        (slowed >= (1.0 + LEAST_SLOWDOWN) * quiet).then_some(cut)
    })
}

/// The state of what these probes stood beside. [`State::All`] without probes.
pub fn state_of(probes: &[f64], cut: f64) -> State {
    let quiet = probes.iter().filter(|p| **p <= cut).count() as f64;
    let all = probes.len() as f64;
    if probes.is_empty() {
        State::All
    } else if quiet >= NEARLY_ALL * all {
        State::Quiet
    } else if all - quiet >= NEARLY_ALL * all {
        State::Busy
    } else {
        State::Mixed
    }
}

/// The median of some figures; `None` if there are none.
pub fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_unstable_by(f64::total_cmp);
    super::median::middle(&sorted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Source, column};

    #[test]
    fn a_broad_busy_state_beside_a_narrow_quiet_one_is_told_apart() {
        for quiet_share in [0.03, 0.5, 0.97] {
            let mut s = Source::new(1);
            let probes = column(2000, || {
                if s.even() < quiet_share {
                    0.78 + 0.002 * s.normal().abs()
                } else {
                    0.9 + 0.4 * s.even()
                }
            });
            let cut = probe_cut(&probes).unwrap();
            assert!((0.78..0.905).contains(&cut), "{quiet_share}: {cut}");
        }
    }

    #[test]
    fn several_busy_levels_are_one_state() {
        let probes: Vec<f64> = (0..900)
            .map(|i| [1.0, 1.5, 2.0][i % 3] + 1e-4 * (i % 7) as f64)
            .collect();
        let cut = probe_cut(&probes).unwrap();
        assert!((1.0..1.5).contains(&cut), "{cut}");
    }

    #[test]
    fn a_drift_a_step_of_the_clock_and_interrupts_are_one_state() {
        let mut s = Source::new(2);
        let drift: Vec<f64> = (0..1000)
            .map(|i| 1.0 + 0.05 * f64::from(i) / 1000.0 + 0.001 * s.normal())
            .collect();
        assert_eq!(probe_cut(&drift), None);
        let step: Vec<f64> = (0..1000)
            .map(|i| if i < 500 { 1.0 } else { 1.03 } + 0.001 * s.normal())
            .collect();
        assert_eq!(probe_cut(&step), None);
        // One probe in a hundred is struck by an interrupt.
        let struck: Vec<f64> = (0..1000)
            .map(|i| if i % 100 == 0 { 3.0 } else { 1.0 } + 0.001 * s.normal())
            .collect();
        assert_eq!(probe_cut(&struck), None);
        assert_eq!(probe_cut(&[]), None);
        // The twin: the same share of two states as the step, further apart.
        let states: Vec<f64> = (0..1000)
            .map(|i| if i < 500 { 1.0 } else { 1.3 } + 0.001 * s.normal())
            .collect();
        assert!(probe_cut(&states).is_some());
    }

    #[test]
    fn a_sample_has_the_state_of_nearly_all_its_probes() {
        let probes = |busy: usize| (0..15).map(|i| if i < busy { 2.0 } else { 1.0 }).collect::<Vec<_>>();
        for (busy, state) in [
            (0, State::Quiet),
            (1, State::Quiet),
            (2, State::Mixed),
            (13, State::Mixed),
            (14, State::Busy),
        ] {
            assert_eq!(state_of(&probes(busy), 1.5), state, "{busy}");
        }
        assert_eq!(state_of(&[], 1.5), State::All);
    }
}
