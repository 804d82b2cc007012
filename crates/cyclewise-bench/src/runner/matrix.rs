//! From the samples of cells to the matrix of a record: what each operation adds, its interval and its floor.
//!
//! What an operation adds in a round is the difference of two samples of that round: the surroundings with it and alone. The
//! figure is the median of these differences, in the state of the neighbour that both samples were in. The floor of a
//! cell is the sum of two parts. The one is what the surroundings add to themselves: the far end of the 99 % interval of
//! their second sampling less the first. The other is the loop's own time, which cancels only if it runs beside both
//! loops or beside neither: one iteration of the probe, which is such a loop, over the copies.

use super::cell::{Place, Role};
use super::neighbour::Neighbour;
use super::samples::{Measurement, VariantSamples};
use super::{Heading, MatrixPlan, SetupOf};
use crate::record::matrix::{Added, Cell, Matrix, ticks_text};
use crate::record::{Body, Experiment, Figure, Level, State};
use crate::stats::{self, Median};

/// The states other than the headline that are shown.
const STATES: [State; 3] = [State::Quiet, State::Busy, State::All];

/// A column of samples: value and state by round.
type Samples = Vec<Option<(f64, State)>>;

pub(super) fn conclude(
    heading: Heading<'_>,
    setup: &SetupOf<'_>,
    plan: &MatrixPlan,
    measured: &Measurement,
) -> Experiment {
    let neighbour = Neighbour::of_measurement(measured);
    let columns: Vec<Samples> = measured.columns.iter().map(|c| samples(c, &neighbour)).collect();
    let rounds = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut probe = neighbour.probe;
    let of_rounds = probe.iter_mut().flat_map(|p| &mut p.rounds);
    of_rounds.for_each(|ticks| *ticks = short(*ticks));
    let levels = probe.as_ref().map_or(&[][..], |p| &p.levels);
    let (matrix, without_control) = matrix(plan, &columns, levels);
    let mut notes = setup.notes.clone();
    notes.extend(controls(&matrix));
    if !without_control.is_empty() {
        notes.push(format!(
            "surroundings without cells, because too few rounds sampled them twice for a floor: {}",
            without_control.join(", ")
        ));
    }
    Experiment {
        name: heading.name.to_string(),
        question: heading.question.to_string(),
        source: heading.source.to_string(),
        unit: heading.unit,
        rounds,
        probe,
        body: Body::Matrix(matrix),
        notes,
        ..Experiment::default()
    }
}

fn samples(column: &VariantSamples, neighbour: &Neighbour) -> Samples {
    let states = neighbour.states(column);
    let rounds = column.rounds.iter().zip(states);
    rounds
        .map(|(sample, state)| sample.as_ref().map(|s| (short(s.value), state)))
        .collect()
}

/// Four decimals of a tick: far below any floor, and a third of the record's size.
fn short(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The matrix, and the surroundings that have samples and no control, and so no cells.
fn matrix(plan: &MatrixPlan, columns: &[Samples], levels: &[Level]) -> (Matrix, Vec<String>) {
    let at = |surrounding, role| {
        let place = Place { surrounding, role };
        let found = plan.cells.iter().position(|cell| *cell == place)?;
        columns.get(found)
    };
    let mut matrix = plan.heads.clone();
    let loops: Vec<(State, f64)> = levels
        .iter()
        .map(|l| (l.state, l.median / f64::from(plan.heads.copies.max(1))))
        .collect();
    // The slowest state's loop where states are not told apart.
    let of_loop = |state| {
        let known = loops.iter().find(|(s, _)| *s == state).map(|(_, ticks)| *ticks);
        known.unwrap_or(loops.iter().map(|(_, ticks)| *ticks).fold(0.0, f64::max))
    };
    let none = Samples::new();
    let mut without_control = Vec::new();
    for (i, surrounding) in matrix.surroundings.iter_mut().enumerate() {
        let alone = at(i, Role::Alone).unwrap_or(&none);
        let again = at(i, Role::Again).unwrap_or(&none);
        surrounding.own = own(alone);
        surrounding.samples = values(alone);
        surrounding.again = values(again);
        let control = added(again, alone);
        surrounding.control = control.first().map(|(a, _)| *a).unwrap_or_default();
        let far = |state: State| {
            let known = || control.iter().filter_map(|(a, far)| Some((a.state, (*far)?)));
            known()
                .find(|(s, _)| *s == state)
                .or(known().next())
                .map(|(_, far)| far)
        };
        if far(State::All).is_none() && alone.iter().any(Option::is_some) {
            without_control.push(surrounding.name.clone());
        }
        for (o, operation) in matrix.operations.iter_mut().enumerate() {
            operation.cells.resize(plan.heads.surroundings.len(), None);
            let Some(with) = at(i, Role::With(o)) else { continue };
            let mut states = added(with, alone).into_iter().map(|(a, _)| a);
            let Some(headline) = states.next() else { continue };
            // Without a control nothing is known of the floor, so the cell could not be read.
            let Some(far) = far(headline.state) else { continue };
            operation.cells[i] = Some(Cell {
                added: headline,
                states: states.collect(),
                floor: short(far + of_loop(headline.state)),
                samples: values(with),
            });
        }
    }
    (matrix, without_control)
}

fn values(samples: &Samples) -> Vec<Option<f64>> {
    samples.iter().map(|s| s.map(|(value, _)| value)).collect()
}

/// The rounds that count for a state, and all of them for [`State::All`].
fn within(state: State, seen: State) -> bool {
    state == State::All || state == seen
}

/// The headline first: the quiet state where enough rounds were quiet, all rounds elsewhere.
fn by_state<T>(figure: impl Fn(State) -> Option<(f64, T)>) -> Vec<T> {
    let mut all: Vec<(State, f64, T)> = STATES
        .into_iter()
        .filter_map(|state| figure(state).map(|(n, figure)| (state, n, figure)))
        .collect();
    let has_quiet = all
        .iter()
        .any(|(state, n, _)| *state == State::Quiet && *n >= stats::ENOUGH);
    let headline = if has_quiet { State::Quiet } else { State::All };
    all.sort_by_key(|(state, ..)| *state != headline);
    all.into_iter().map(|(.., figure)| figure).collect()
}

/// What one column of samples adds to another, by state, and the far end of the 99 % interval if it has both bounds.
fn added(with: &Samples, alone: &Samples) -> Vec<(Added, Option<f64>)> {
    by_state(|state| {
        let both = with.iter().zip(alone).filter_map(|(w, a)| Some(((*w)?, (*a)?)));
        let differences: Vec<f64> = both
            .filter(|((_, w), (_, a))| within(state, *w) && within(state, *a))
            .map(|((with, _), (alone, _))| with - alone)
            .collect();
        let median = Median::of_series(&differences)?;
        let far = match median.interval(0.99) {
            [Some(low), Some(high)] => Some(low.abs().max(high.abs())),
            _ => None,
        };
        let figure = Added {
            state,
            n: differences.len(),
            effective_n: short(median.dependence.effective_n),
            ticks: short(median.median),
            ci95: median.interval(0.95).map(|bound| bound.map(short)),
        };
        Some((median.dependence.effective_n, (figure, far)))
    })
}

/// The surroundings' own time, by state.
fn own(alone: &Samples) -> Vec<Figure> {
    by_state(|state| {
        let seen: Vec<f64> = alone
            .iter()
            .flatten()
            .filter(|(_, s)| within(state, *s))
            .map(|(value, _)| *value)
            .collect();
        let median = Median::of_series(&seen)?;
        let figure = Figure {
            state,
            n: seen.len(),
            median: median.median,
            ci95: median.interval(0.95),
            effective_n: short(median.dependence.effective_n),
            autocorrelation: median.dependence.autocorrelation.map(short),
            ..Figure::default()
        };
        Some((median.dependence.effective_n, figure))
    })
}

/// A note on surroundings that differ from themselves.
fn controls(matrix: &Matrix) -> Option<String> {
    let differ = |s: &&crate::record::matrix::Surrounding| {
        let [low, high] = s.control.ci95;
        low.is_some_and(|low| low > 0.0) || high.is_some_and(|high| high < 0.0)
    };
    let told: Vec<String> = matrix
        .surroundings
        .iter()
        .filter(differ)
        .map(|s| {
            let ticks = ticks_text(s.control.ticks, s.control.uncertainty());
            let sign = if s.control.ticks < 0.0 { "" } else { "+" };
            format!("{} by {sign}{ticks} ticks", s.name)
        })
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "surroundings that differ from themselves, beyond the 95 % interval; the floor of their column has it: {}",
            told.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Unit;
    use crate::record::made_up::{operation, surrounding};
    use crate::runner::{Guards, Sample, VariantSamples};

    /// One operation in two kinds of surroundings; `ticks` gives the value and probes of a place in a round.
    fn concluded(rounds: usize, ticks: impl Fn(Place, usize) -> (f64, f64)) -> Experiment {
        let mut plan = MatrixPlan {
            heads: Matrix {
                copies: 8,
                surroundings: vec![surrounding("nothing"), surrounding("adds-30")],
                operations: vec![operation("lock-inc64", [])],
            },
            ..MatrixPlan::default()
        };
        for surrounding in 0..2 {
            for role in [Role::Alone, Role::Again, Role::With(0)] {
                plan.cells.push(Place { surrounding, role });
            }
        }
        let column = |place: Place| VariantSamples {
            rounds: (0..rounds)
                .map(|round| {
                    let (value, probe) = ticks(place, round);
                    value.is_finite().then(|| Sample {
                        probes: vec![probe; 4],
                        ..Sample::new(value)
                    })
                })
                .collect(),
            ..VariantSamples::default()
        };
        let measured = Measurement {
            columns: plan.cells.iter().map(|place| column(*place)).collect(),
            ..Measurement::default()
        };
        let heading = Heading {
            name: "in-context",
            question: "?",
            source: "",
            unit: Unit::TicksPerOp,
            guards: Guards::ThisThread,
        };
        conclude(heading, &SetupOf::default(), &plan, &measured)
    }

    /// Noise of a hundredth of a tick, another at each place and in each round.
    fn noise(place: Place, round: usize) -> f64 {
        let role = match place.role {
            Role::Alone => 0,
            Role::Again => 1,
            Role::With(n) => 2 + n,
        };
        let mut z = (round * 64 + place.surrounding * 8 + role) as u64 + 1;
        for _ in 0..2 {
            z = (z ^ (z >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        ((z >> 33) as f64 / f64::from(1u32 << 31) - 0.5) / 50.0
    }

    fn cell(e: &Experiment, surrounding: usize) -> &Cell {
        e.matrix().unwrap().operations[0].cells[surrounding].as_ref().unwrap()
    }

    #[test]
    fn what_is_added_is_the_difference_of_the_same_round() {
        // A drift that is larger than anything that is measured.
        let e = concluded(200, |place, round| {
            let own = [0.1, 24.0][place.surrounding];
            let added = if place.role == Role::With(0) {
                [4.5, 0.0][place.surrounding]
            } else {
                0.0
            };
            (own + added + round as f64 + noise(place, round), 0.8)
        });
        assert!((cell(&e, 0).added.ticks - 4.5).abs() < 0.02);
        assert!(!cell(&e, 0).is_nothing());
        assert!(cell(&e, 1).is_nothing(), "{:?}", cell(&e, 1).added);
        let [low, high] = cell(&e, 0).added.ci95.map(Option::unwrap);
        assert!(low <= 4.5 && 4.5 <= high && high - low < 0.02, "{low} {high}");
        assert!(e.variants.is_empty() && e.rounds == 200);
    }

    #[test]
    fn the_floor_is_the_controls_and_the_loops() {
        let e = concluded(200, |place, round| (1.0 + noise(place, round), 0.8));
        assert!(
            (0.1..0.13).contains(&cell(&e, 0).floor),
            "an eighth of the probe, and noise: {}",
            cell(&e, 0).floor
        );
        // The twin: surroundings that differ from themselves by half a tick hide a third of one.
        let e = concluded(200, |place, round| {
            let moved = match place.role {
                Role::Alone => 0.0,
                Role::Again => 0.5,
                Role::With(_) => 0.3,
            };
            (1.0 + moved + noise(place, round), 0.8)
        });
        assert!(cell(&e, 0).floor > 0.5 && cell(&e, 0).is_nothing());
        assert!(
            e.notes
                .iter()
                .any(|n| n.contains("differ from themselves") && n.contains("nothing by +0."))
        );
    }

    #[test]
    fn states_are_told_apart_by_the_probes_alone() {
        let busy = |round: usize| round / 50 % 2 == 1;
        let e = concluded(400, |place, round| {
            let added = match (place.role, busy(round)) {
                (Role::With(0), false) => 2.0,
                (Role::With(0), true) => 6.0,
                _ => 0.0,
            };
            let probe = if busy(round) { 1.2 } else { 0.8 } + noise(place, round);
            (1.0 + added + noise(place, round), probe)
        });
        let c = cell(&e, 0);
        assert_eq!(c.added.state, State::Quiet);
        assert!((c.added.ticks - 2.0).abs() < 0.02 && c.added.n == 200);
        let of_busy = c.states.iter().find(|a| a.state == State::Busy).unwrap();
        assert!((of_busy.ticks - 6.0).abs() < 0.02);
        assert_eq!(e.probe.as_ref().unwrap().share(State::Quiet), Some(0.5));
        // The twin: the same samples beside probes that show nothing.
        let e = concluded(400, |place, round| {
            let added = match (place.role, busy(round)) {
                (Role::With(0), false) => 2.0,
                (Role::With(0), true) => 6.0,
                _ => 0.0,
            };
            (1.0 + added + noise(place, round), 0.8 + noise(place, round) / 10.0)
        });
        assert_eq!((cell(&e, 0).added.state, cell(&e, 0).added.n), (State::All, 400));
    }

    #[test]
    fn a_share_is_of_rounds_and_follows_the_clock() {
        // Each round has as many slowed probes as others, in samples of their own.
        let probe = |place: Place| if place.surrounding == 0 { 0.8 } else { 1.2 };
        let mixed = concluded(200, |place, round| {
            (1.0 + noise(place, round), probe(place) + noise(place, round) / 10.0)
        });
        let shares = mixed.probe.as_ref().unwrap();
        assert_eq!(
            (shares.share(State::Quiet), shares.share(State::Mixed)),
            (Some(0.0), Some(1.0))
        );
        // The twin: as many slowed probes, in every other round.
        let apart = concluded(200, |place, round| {
            let probe = if round % 2 == 0 { 0.8 } else { 1.2 };
            (1.0 + noise(place, round), probe + noise(place, round) / 10.0)
        });
        assert_eq!(apart.probe.as_ref().unwrap().share(State::Quiet), Some(0.5));
        // A round without samples is a round.
        let gap = concluded(200, |place, round| {
            let probe = if round % 2 == 0 { 0.8 } else { 1.2 };
            let value = if round == 7 { f64::NAN } else { 1.0 };
            (value + noise(place, round), probe + noise(place, round) / 10.0)
        });
        let probe = gap.probe.as_ref().unwrap();
        assert_eq!((probe.rounds.len(), probe.states.len(), gap.rounds), (200, 200, 200));
    }

    #[test]
    fn without_a_control_there_is_no_cell() {
        let with_controls = |rounds: usize| {
            concluded(100, |place, round| {
                let lost = place.role == Role::Again && round >= rounds;
                (if lost { f64::NAN } else { 1.0 + noise(place, round) }, 0.8)
            })
        };
        let none = |e: &Experiment| e.matrix().unwrap().rows().is_empty();
        let told = |e: &Experiment| {
            e.notes
                .iter()
                .any(|n| n.contains("surroundings without cells") && n.contains("adds-30"))
        };
        for rounds in [0, 3] {
            let e = with_controls(rounds);
            assert!(none(&e) && told(&e), "{rounds}: {:?}", e.notes);
        }
        // The twin: enough rounds for both bounds.
        let e = with_controls(60);
        assert!(!none(&e) && !told(&e), "{:?}", e.notes);
    }

    #[test]
    fn rejected_samples_are_in_no_difference_and_a_row_without_samples_has_no_figure() {
        let e = concluded(100, |place, round| {
            let rejected = place.role == Role::Alone && round < 40;
            let with = place
                == Place {
                    surrounding: 1,
                    role: Role::With(0),
                };
            (
                if rejected || with {
                    f64::NAN
                } else {
                    1.0 + noise(place, round)
                },
                0.8,
            )
        });
        assert_eq!(cell(&e, 0).added.n, 60);
        let m = e.matrix().unwrap();
        assert_eq!(m.operations[0].cells[1], None);
        assert_eq!(m.surroundings[0].samples[39], None);
        assert_eq!(m.rows().len(), 1);
    }
}
