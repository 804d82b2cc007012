//! Figures of rows and of pairs of rows in each state of the neighbour, and which of them is the headline.
//!
//! The headline is the quiet state's where that is worth at least [`ENOUGH`](stats::ENOUGH) independent rounds, and that of all
//! rounds elsewhere. Which state a sample is in follows from the probes alone.

use crate::record::{Batches, Figure, Linearity, Paired, State};
use crate::stats;

/// A column of a measurement: the value of each round, if it was kept, and the round's state.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Column {
    pub values: Vec<Option<f64>>,
    pub states: Vec<State>,
}

/// The headline and the other states.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ByState<T> {
    pub headline: Option<T>,
    pub others: Vec<T>,
}

/// The states in the order in which they are listed.
const STATES: [State; 3] = [State::Quiet, State::Busy, State::Mixed];

/// Fewer rounds than these in a state are not listed: they have no interval.
const LISTED: usize = 6;

/// Chooses the headline. `of` makes the figure of a state ([`State::All`]: of all rounds), `worth` tells its size: effective
/// rounds and rounds.
fn choose<T>(told_apart: bool, of: impl Fn(State) -> Option<T>, worth: impl Fn(&T) -> (f64, usize)) -> ByState<T> {
    let mut others = Vec::new();
    let mut headline = None;
    if told_apart {
        for state in STATES {
            let Some(figure) = of(state) else { continue };
            let (effective, n) = worth(&figure);
            if state == State::Quiet && effective >= stats::ENOUGH {
                headline = Some(figure);
            } else if n >= LISTED {
                others.push(figure);
            }
        }
    }
    ByState {
        headline: headline.or_else(|| of(State::All)),
        others,
    }
}

impl Column {
    fn told_apart(&self) -> bool {
        self.states.iter().any(|s| *s != State::All)
    }

    /// The kept values in a state, in the order of the rounds.
    pub(super) fn kept_in(&self, state: State) -> Vec<f64> {
        let in_state = |s: &State| state == State::All || *s == state;
        let rounds = self.values.iter().zip(&self.states).filter(|(_, s)| in_state(s));
        rounds.filter_map(|(value, _)| *value).collect()
    }

    /// The states of the kept samples as letters; empty where there is one state.
    pub(super) fn letters(&self) -> String {
        let rounds = self
            .values
            .iter()
            .zip(&self.states)
            .filter(|(value, _)| value.is_some());
        if self.told_apart() {
            rounds.map(|(_, s)| s.letter()).collect()
        } else {
            String::new()
        }
    }

    /// The row's figures.
    pub(super) fn figures(&self) -> ByState<Figure> {
        let of = |state| {
            let samples = self.kept_in(state);
            let median = stats::Median::of_series(&samples)?;
            Some(Figure {
                state,
                n: samples.len(),
                median: median.median,
                ci95: median.interval(0.95),
                effective_n: median.dependence.effective_n,
                autocorrelation: median.dependence.autocorrelation,
                modes: stats::modes(&samples),
                ..Figure::default()
            })
        };
        choose(self.told_apart(), of, |f: &Figure| (f.effective_n, f.n))
    }

    /// The pairs of rounds that kept both, each with its state: mixed where the two samples' states differ.
    fn pairs(&self, other: &Column) -> Vec<(State, (f64, f64))> {
        let values = self.values.iter().zip(&other.values);
        let states = self.states.iter().zip(&other.states);
        values
            .zip(states)
            .filter_map(|((a, b), (of_a, of_b))| {
                let state = if of_a == of_b { *of_a } else { State::Mixed };
                Some((state, ((*a)?, (*b)?)))
            })
            .collect()
    }

    pub(super) fn pairs_in(&self, other: &Column, state: State) -> Vec<(f64, f64)> {
        let all = self.pairs(other).into_iter();
        all.filter(|(s, _)| state == State::All || *s == state)
            .map(|(_, pair)| pair)
            .collect()
    }

    /// The figures of this row compared with another.
    pub(super) fn against(&self, other: &Column) -> ByState<Paired> {
        let of = |state| stats::paired(state, &self.pairs_in(other, state));
        choose(self.told_apart(), of, |p: &Paired| (p.effective_n, p.n))
    }
}

/// Judges the linearity of a row in each state: marks its figures, and returns the headline's.
///
/// `letters` are the states of the samples, empty where there is one.
pub(super) fn mark_linearity(figures: &mut ByState<Figure>, batches: &Batches, letters: &str) -> Option<Linearity> {
    // The empty loop has no copies: its lengths are iterations.
    let copies = if batches.copies == [0; 3] {
        [1.0, 2.0, 4.0]
    } else {
        batches.copies.map(f64::from)
    };
    let states: Vec<State> = letters.chars().filter_map(State::of_letter).collect();
    let judge = |state: State| {
        let in_state = |i: usize| state == State::All || states.get(i) == Some(&state);
        let of = |ticks: &Vec<u64>| -> Vec<f64> {
            let kept = ticks.iter().enumerate().filter(|(i, _)| in_state(*i));
            kept.map(|(_, t)| *t as f64).collect()
        };
        let ticks = [&batches.ticks[0], &batches.ticks[1], &batches.ticks[2]].map(of);
        stats::linearity(copies, batches.iterations, [&ticks[0], &ticks[1], &ticks[2]])
    };
    for figure in &mut figures.others {
        figure.linear = judge(figure.state).and_then(|l| l.linear);
    }
    let headline = figures.headline.as_mut()?;
    let linearity = judge(headline.state)?;
    headline.linear = linearity.linear;
    Some(linearity)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 300 rounds; the neighbour is busy in `busy` of every 100, and a sample then costs `slow` instead of `fast`.
    fn column(fast: f64, slow: f64, busy: usize, shift: usize) -> Column {
        let wobble = |i: usize| 1.0 + 0.002 * ((i + shift) * 7 % 11) as f64 / 11.0;
        let is_busy = |i: usize| i % 100 < busy;
        Column {
            values: (0..300)
                .map(|i| Some(if is_busy(i) { slow } else { fast } * wobble(i)))
                .collect(),
            states: (0..300)
                .map(|i| if is_busy(i) { State::Busy } else { State::Quiet })
                .collect(),
        }
    }

    #[test]
    fn the_headline_is_quiet_where_enough_rounds_were() {
        let figures = column(1.0, 2.0, 60, 0).figures();
        let headline = figures.headline.unwrap();
        assert_eq!((headline.state, headline.n), (State::Quiet, 120));
        assert!((headline.median - 1.001).abs() < 0.001);
        assert_eq!(figures.others.len(), 1);
        assert_eq!((figures.others[0].state, figures.others[0].n), (State::Busy, 180));
        // Nine quiet rounds are too few: all rounds make the headline, and the quiet ones stand beside them.
        let figures = column(1.0, 2.0, 97, 0).figures();
        assert_eq!(figures.headline.unwrap().state, State::All);
        assert_eq!(figures.others[0].state, State::Quiet);
    }

    #[test]
    fn pairs_are_of_one_state_or_mixed() {
        let a = column(1.0, 2.0, 50, 0);
        let mut b = column(2.0, 2.0, 50, 3);
        b.states[50] = State::Busy;
        b.values[51] = None;
        assert_eq!(a.pairs_in(&b, State::All).len(), 299);
        assert_eq!(a.pairs_in(&b, State::Mixed).len(), 1);
        assert_eq!(a.pairs_in(&b, State::Quiet).len(), 148);
        let paired = a.against(&b);
        let headline = paired.headline.unwrap();
        assert_eq!(headline.state, State::Quiet);
        assert!((headline.ratio - 0.5).abs() < 0.002, "{headline:?}");
        assert!((paired.others[0].ratio - 1.0).abs() < 0.002);
    }

    #[test]
    fn one_state_has_one_figure_and_no_letters() {
        let mut a = column(1.0, 2.0, 0, 0);
        a.states = vec![State::All; 300];
        assert_eq!(a.letters(), "");
        let figures = a.figures();
        assert_eq!((figures.headline.unwrap().state, figures.others.len()), (State::All, 0));
    }

    #[test]
    fn a_row_can_be_linear_in_one_state_and_not_in_the_other() {
        let a = column(1.0, 2.0, 50, 0);
        let mut figures = a.figures();
        let ticks = |quiet: u64, busy: u64| {
            let wobble = |i: usize| (i * 7 % 11) as u64;
            (0..300)
                .map(|i| if i % 100 < 50 { busy } else { quiet } + wobble(i))
                .collect()
        };
        let batches = Batches {
            iterations: 1000,
            copies: [4, 8, 16],
            ticks: [ticks(6_000, 7_000), ticks(12_000, 77_000), ticks(24_000, 210_000)],
        };
        let linearity = mark_linearity(&mut figures, &batches, &a.letters()).unwrap();
        assert_eq!(linearity.linear, Some(true));
        assert_eq!(figures.headline.as_ref().unwrap().linear, Some(true));
        assert_eq!(figures.others[0].linear, Some(false));
        // Without states both are one column, and its median is that of one of them.
        assert!(mark_linearity(&mut figures, &Batches::default(), "").is_none());
    }
}
