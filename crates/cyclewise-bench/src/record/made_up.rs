//! Rows and matrices for tests.

use super::matrix::{Added, Cell, Operation, Surrounding};
use super::{Batches, Body, Comparison, Experiment, Figure, Linearity, Matrix, Record, State, Variant};
use crate::stats;

/// A record of these experiments, and nothing else.
pub fn record_of(experiments: Vec<Experiment>) -> Record {
    Record {
        experiments,
        ..Record::default()
    }
}

/// An experiment of this body, and nothing else.
pub fn experiment_with(name: &str, body: Body) -> Experiment {
    Experiment {
        name: name.to_string(),
        body,
        ..Experiment::default()
    }
}

/// An experiment of these rows, and nothing else.
pub fn experiment_of(name: &str, variants: Vec<Variant>) -> Experiment {
    Experiment {
        variants,
        ..experiment_with(name, Body::Variants)
    }
}

/// An experiment of these comparisons, and nothing else.
pub fn compared(name: &str, comparisons: Vec<Comparison>) -> Experiment {
    Experiment {
        comparisons,
        ..experiment_with(name, Body::Variants)
    }
}

/// A row of these samples, with the figures that follow from them; of none they are not numbers.
pub fn sampled(name: &str, samples: Vec<f64>) -> Variant {
    let s = stats::describe(&samples);
    let figure = |of: fn(&stats::Summary) -> f64| s.as_ref().map_or(f64::NAN, of);
    Variant {
        name: name.to_string(),
        n: samples.len(),
        mean: figure(|s| s.mean),
        sd: figure(|s| s.sd),
        median: figure(|s| s.median),
        min: figure(|s| s.min),
        ci95: [figure(|s| s.ci95[0]), figure(|s| s.ci95[1])],
        samples,
        ..Variant::default()
    }
}

/// A row that is not linear, whose copies cost these ticks at 4, 8 and 16 copies, and a little more in some of its rounds. `states` are
/// the letters of the first rounds, and repeated; empty if states are not told apart.
pub fn bent(name: &str, per_copy: [f64; 3], states: &str) -> Variant {
    let copies = [4.0, 8.0, 16.0];
    let rounds = 40;
    let ticks = [0, 1, 2].map(|length: usize| {
        let sample = |round: u64| (1e4 * per_copy[length] * copies[length]) as u64 + round * 7 % 11;
        (0..rounds).map(sample).collect()
    });
    let n = rounds as usize;
    Variant {
        name: name.to_string(),
        n,
        median: 17.6,
        samples: vec![17.6; n],
        sample_states: states.repeat(n / states.len().max(1)),
        headline: Some(Figure {
            state: if states.is_empty() { State::All } else { State::Quiet },
            n,
            median: 17.6,
            linear: Some(false),
            ..Figure::default()
        }),
        linearity: Some(Linearity {
            copies,
            per_copy,
            linear: Some(false),
            ..Linearity::default()
        }),
        batches: Some(Batches {
            iterations: 10_000,
            copies: [4, 8, 16],
            ticks,
        }),
        ..Variant::default()
    }
}

/// What a cell adds, known to `half` on either side.
pub fn added(ticks: f64, half: f64) -> Added {
    Added {
        ticks,
        ci95: [Some(ticks - half), Some(ticks + half)],
        ..Added::default()
    }
}

pub fn cell(added: Added, floor: f64) -> Cell {
    Cell {
        added,
        floor,
        ..Cell::default()
    }
}

/// Surroundings of this name, which is shortened to its first two letters.
pub fn surrounding(name: &str) -> Surrounding {
    Surrounding {
        name: name.to_string(),
        short: name.chars().take(2).collect(),
        what: format!("what {name} is"),
        ..Surrounding::default()
    }
}

pub fn operation(name: &str, cells: impl IntoIterator<Item = Option<Cell>>) -> Operation {
    Operation {
        name: name.to_string(),
        cells: cells.into_iter().collect(),
        ..Operation::default()
    }
}

/// An experiment of a matrix of loops of eight copies.
pub fn matrix_of(surroundings: Vec<Surrounding>, operations: Vec<Operation>) -> Experiment {
    let matrix = Matrix {
        copies: 8,
        surroundings,
        operations,
    };
    experiment_with("in-context", Body::Matrix(matrix))
}

/// A matrix of two operations, the rows `a` and `b` of the experiment `e`: the surroundings, and what each adds to them.
pub fn in_context(columns: &[(&str, f64, f64)]) -> Experiment {
    let wobble = |round: usize| 0.001 * (round * 7 % 11) as f64;
    let of = |ticks: f64| Cell {
        samples: (0..40).map(|round| Some(20.0 + ticks + wobble(round))).collect(),
        ..cell(added(ticks, 0.01), 0.1)
    };
    let row = |name: &str, ticks: fn(&(&str, f64, f64)) -> f64| Operation {
        loop_row: Some(["e".to_string(), name.to_string()]),
        ..operation(&format!("op-{name}"), columns.iter().map(|c| Some(of(ticks(c)))))
    };
    matrix_of(
        columns.iter().map(|c| surrounding(c.0)).collect(),
        vec![row("a", |c| c.1), row("b", |c| c.2)],
    )
}
