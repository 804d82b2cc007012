//! Which dots stand for a strip's samples, and what tells their states apart.
//!
//! # Invariants
//! 1. A strip has no more dots than asked, but at least two for each state that has two samples.
//! 2. The least and the greatest sample of each state are among its dots.

use super::Strip;
use crate::record::State;

/// A dot: its value, the colour's index from 0, and the part of the strip's height that it may be in, from −1 to 1.
pub(super) struct Dot {
    pub value: f64,
    pub series: usize,
    pub band: [f64; 2],
}

/// The states in their order, with colour, height and words.
const BANDS: [(State, usize, [f64; 2], &str); 3] = [
    (State::Quiet, 0, [-1.0, -0.12], "upper half: quiet rounds"),
    (State::Busy, 1, [0.12, 1.0], "lower half: busy rounds"),
    (State::Mixed, 2, [-0.1, 0.1], "between them: rounds of both"),
];

/// The dots of a strip, at most about `most`.
pub(super) fn dots(strip: &Strip, most: usize) -> Vec<Dot> {
    let all = strip.finite().count().max(1);
    let mut out = Vec::new();
    for (values, series, band) in groups(strip) {
        let share = (most * values.len()).div_ceil(all).max(2);
        out.extend(
            thinned(values, share)
                .into_iter()
                .map(|value| Dot { value, series, band }),
        );
    }
    out
}

/// The finite samples of each state, with their colour and height.
fn groups(strip: &Strip) -> Vec<(Vec<f64>, usize, [f64; 2])> {
    if !told_apart(strip) {
        return vec![(strip.finite().collect(), strip.series, [-1.0, 1.0])];
    }
    let group = |(state, series, band, _): &(State, usize, [f64; 2], &str)| {
        let samples = strip.samples.iter().zip(strip.states.chars());
        let of_state = samples.filter(|(v, letter)| v.is_finite() && *letter == state.letter());
        (of_state.map(|(v, _)| *v).collect(), *series, *band)
    };
    BANDS.iter().map(group).collect()
}

/// Whether every sample has a state.
fn told_apart(strip: &Strip) -> bool {
    !strip.states.is_empty() && strip.states.chars().count() == strip.samples.len()
}

/// At most `most` evenly spaced order statistics, the least and the greatest among them.
fn thinned(mut values: Vec<f64>, most: usize) -> Vec<f64> {
    if values.len() <= most {
        return values;
    }
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    (0..most)
        .map(|i| values[(i * last + (most - 1) / 2) / (most - 1)])
        .collect()
}

/// The colours' words, if any strip tells states apart.
pub(super) fn legend(strips: &[Strip]) -> Vec<(usize, &'static str)> {
    let seen = |state: &State| {
        let mut apart = strips.iter().filter(|s| told_apart(s));
        apart.any(|s| s.states.contains(state.letter()))
    };
    let seen = BANDS.iter().filter(|(state, ..)| seen(state));
    seen.map(|(_, series, _, words)| (series + 1, *words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_bounded_and_the_ends_stay() {
        let samples: Vec<f64> = (0..10_000).map(f64::from).rev().collect();
        let dots = dots(&Strip::of_samples("x", &samples), 100);
        assert_eq!(dots.len(), 100);
        assert_eq!((dots[0].value, dots[99].value), (0.0, 9999.0));
        assert!((dots[50].value - 5050.0).abs() < 60.0, "{}", dots[50].value);
        // The twin: with room for all, all are there.
        assert_eq!(super::dots(&Strip::of_samples("x", &samples), 10_000).len(), 10_000);
    }

    #[test]
    fn states_are_apart_and_a_rare_one_is_not_lost() {
        let samples: Vec<f64> = (0..1000).map(f64::from).collect();
        let states: String = (0..1000).map(|i| if i < 996 { 'q' } else { 'b' }).collect();
        let strip = Strip {
            states: &states,
            ..Strip::of_samples("x", &samples)
        };
        let dots = dots(&strip, 50);
        let busy: Vec<f64> = dots.iter().filter(|d| d.series == 1).map(|d| d.value).collect();
        assert_eq!(busy, [996.0, 999.0]);
        assert!(dots.iter().all(|d| (d.series == 1) == (d.band[0] > 0.0)));
        assert_eq!(legend(&[strip]).len(), 2);
        assert!(legend(&[Strip::of_samples("x", &samples)]).is_empty());
    }
}
