//! The state of the neighbour in each sample and each round of a measurement, by the probes beside the samples.
//!
//! # Invariants
//! 1. Only probes and the add chain are looked at, never a sample's value.

use super::samples::{Measurement, VariantSamples};
use crate::record::{Level, Probe, State};
use crate::stats;

/// Rounds over which the add chain's ticks are smoothed (their median), so that a disturbed chain does not move a probe.
const SMOOTHED: usize = 5;

/// The states of a measurement.
#[derive(Debug, Default)]
pub(super) struct Neighbour {
    /// The probe's figure above which it was slowed; `None` if the probes show one state.
    cut: Option<f64>,
    /// What each round's probes are multiplied by: the clock's frequency in it, relative to the median.
    scale: Vec<f64>,
    /// What the record says; `None` without probes.
    pub(super) probe: Option<Probe>,
}

impl Neighbour {
    /// Tells the states of `measured` apart.
    pub(super) fn of_measurement(measured: &Measurement) -> Self {
        let columns = || {
            measured
                .columns
                .iter()
                .chain(&measured.again)
                .chain(&measured.add_chain)
        };
        let rounds = columns().map(|c| c.rounds.len()).max().unwrap_or(0);
        let scale = frequency(measured.add_chain.as_ref(), rounds);
        let by_round: Vec<Vec<f64>> = (0..rounds)
            .map(|round| columns().flat_map(|c| scaled(c, round, &scale)).collect())
            .collect();
        let cut = stats::probe_cut(&by_round.concat());
        Self {
            cut,
            probe: probe(&by_round, cut),
            scale,
        }
    }

    /// Whether there is more than one state.
    pub(super) fn told_apart(&self) -> bool {
        self.cut.is_some()
    }

    /// The state of each round of a column; [`State::All`] where the probes show one.
    pub(super) fn states(&self, column: &VariantSamples) -> Vec<State> {
        (0..column.rounds.len())
            .map(|round| match self.cut {
                Some(cut) => stats::state_of(&scaled(column, round, &self.scale), cut),
                None => State::All,
            })
            .collect()
    }
}

/// The probes of one sample at the median frequency.
fn scaled(column: &VariantSamples, round: usize, scale: &[f64]) -> Vec<f64> {
    let sample = column.rounds.get(round).and_then(Option::as_ref);
    let probes = sample.map_or(&[][..], |s| &s.probes);
    probes.iter().map(|p| p * scale.get(round).unwrap_or(&1.0)).collect()
}

/// For each round, the median ticks of an add over those around this round; 1 without a chain.
fn frequency(chain: Option<&VariantSamples>, rounds: usize) -> Vec<f64> {
    let value = |round: usize| chain?.rounds.get(round)?.as_ref().map(|s| s.value).filter(|x| *x > 0.0);
    let Some(all) = stats::median((0..rounds).filter_map(value)) else {
        return vec![1.0; rounds];
    };
    (0..rounds)
        .map(|round| {
            let near = round.saturating_sub(SMOOTHED / 2)..(round + SMOOTHED / 2 + 1).min(rounds);
            all / stats::median(near.filter_map(value)).unwrap_or(all)
        })
        .collect()
}

fn probe(by_round: &[Vec<f64>], cut: Option<f64>) -> Option<Probe> {
    let median = |probes: &Vec<f64>| stats::median(probes.iter().copied());
    // A round all of whose samples were rejected has no probe of its own; the one before it stands for it.
    let mut last = by_round.iter().find_map(median)?;
    let rounds: Vec<f64> = by_round
        .iter()
        .map(|probes| {
            last = median(probes).unwrap_or(last);
            last
        })
        .collect();
    let states: Vec<State> = match cut {
        Some(cut) => by_round
            .iter()
            .zip(&rounds)
            .map(|(probes, median)| match stats::state_of(probes, cut) {
                State::All => stats::state_of(&[*median], cut),
                state => state,
            })
            .collect(),
        None => vec![State::All; rounds.len()],
    };
    let levels = [State::All, State::Quiet, State::Busy, State::Mixed]
        .into_iter()
        .filter_map(|state| {
            let of_state = || {
                rounds
                    .iter()
                    .zip(&states)
                    .filter(|(_, s)| **s == state)
                    .map(|(r, _)| *r)
            };
            Some(Level {
                state,
                median: stats::median(of_state())?,
                share: of_state().count() as f64 / rounds.len() as f64,
            })
        });
    Some(Probe {
        levels: levels.collect(),
        states: if cut.is_some() {
            states.iter().map(|s| s.letter()).collect()
        } else {
            String::new()
        },
        rounds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Sample;

    /// A column of 200 rounds, the middle third of which the neighbour is busy in, with the clock at `clock(round)`.
    fn column(value: f64, clock: impl Fn(usize) -> f64, busy: impl Fn(usize) -> bool) -> VariantSamples {
        let sample = |round: usize| {
            let slow = if busy(round) { 1.4 } else { 1.0 };
            let wobble = 1.0 + 0.001 * (round * 7 % 11) as f64 / 11.0;
            Some(Sample {
                probes: vec![slow * wobble / clock(round); 4],
                ..Sample::new(value / clock(round))
            })
        };
        VariantSamples {
            rounds: (0..200).map(sample).collect(),
            ..VariantSamples::default()
        }
    }

    fn measured(clock: impl Fn(usize) -> f64 + Copy, busy: impl Fn(usize) -> bool + Copy, chain: bool) -> Measurement {
        Measurement {
            columns: vec![column(3.0, clock, busy), column(5.0, clock, busy)],
            add_chain: chain.then(|| column(1.0, clock, busy)),
            ..Measurement::default()
        }
    }

    #[test]
    fn rounds_and_samples_have_the_state_of_their_probes() {
        let m = measured(|_| 1.0, |round| (60..130).contains(&round), true);
        let neighbour = Neighbour::of_measurement(&m);
        let states = neighbour.states(&m.columns[0]);
        assert_eq!(
            (states[0], states[59], states[60], states[129], states[130]),
            (State::Quiet, State::Quiet, State::Busy, State::Busy, State::Quiet)
        );
        let probe = neighbour.probe.unwrap();
        assert_eq!((probe.rounds.len(), probe.states.len()), (200, 200));
        assert_eq!(probe.share(State::Busy), Some(0.35));
        assert!(
            probe
                .levels
                .iter()
                .any(|l| l.state == State::Busy && (l.median - 1.4).abs() < 0.01)
        );
    }

    #[test]
    fn a_sample_is_not_asked_for_its_value() {
        let busy = |round: usize| (60..130).contains(&round);
        let mut m = measured(|_| 1.0, busy, true);
        let before = Neighbour::of_measurement(&m).states(&m.columns[0]);
        for (i, sample) in m.columns[0].rounds.iter_mut().flatten().enumerate() {
            sample.value = (i * 37 % 101) as f64;
        }
        assert_eq!(Neighbour::of_measurement(&m).states(&m.columns[0]), before);
    }

    #[test]
    fn a_clock_that_steps_by_a_tenth_is_no_neighbour() {
        let steps = |round: usize| if round < 100 { 1.0 } else { 1.1 };
        let with_chain = Neighbour::of_measurement(&measured(steps, |_| false, true));
        assert!(!with_chain.told_apart());
        let probe = with_chain.probe.unwrap();
        assert_eq!(
            (probe.states.as_str(), probe.levels.len(), probe.levels[0].state),
            ("", 1, State::All)
        );
        // The twin: without the chain the step is taken for a state.
        assert!(Neighbour::of_measurement(&measured(steps, |_| false, false)).told_apart());
    }

    #[test]
    fn no_probes_no_states() {
        let mut m = measured(|_| 1.0, |round| round % 2 == 0, true);
        for column in m.columns.iter_mut().chain(&mut m.add_chain) {
            column.rounds.iter_mut().flatten().for_each(|s| s.probes.clear());
        }
        let neighbour = Neighbour::of_measurement(&m);
        assert!(!neighbour.told_apart() && neighbour.probe.is_none());
        assert!(neighbour.states(&m.columns[0]).iter().all(|s| *s == State::All));
    }
}
