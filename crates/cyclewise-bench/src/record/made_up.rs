//! Rows and matrices for tests.

use super::matrix::{Added, Cell, Operation, Surrounding};
use super::{Batches, Body, Comparison, Experiment, Figure, Linearity, Matrix, Record, State, Variant};

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

/// A matrix of two operations, the rows `a` and `b` of the experiment `e`: the surroundings, and what each adds to them.
pub fn in_context(columns: &[(&str, f64, f64)]) -> Experiment {
    let wobble = |round: usize| 0.001 * (round * 7 % 11) as f64;
    let cell = |ticks: f64| {
        Some(Cell {
            added: Added {
                ticks,
                ci95: [Some(ticks - 0.01), Some(ticks + 0.01)],
                ..Added::default()
            },
            floor: 0.1,
            samples: (0..40).map(|round| Some(20.0 + ticks + wobble(round))).collect(),
            ..Cell::default()
        })
    };
    let operation = |name: &str, cells: Vec<f64>| Operation {
        name: format!("op-{name}"),
        loop_row: Some(["e".to_string(), name.to_string()]),
        cells: cells.into_iter().map(cell).collect(),
        ..Operation::default()
    };
    let surrounding = |(name, ..): &(&str, f64, f64)| Surrounding {
        name: (*name).to_string(),
        ..Surrounding::default()
    };
    let matrix = Matrix {
        surroundings: columns.iter().map(surrounding).collect(),
        operations: vec![
            operation("a", columns.iter().map(|c| c.1).collect()),
            operation("b", columns.iter().map(|c| c.2).collect()),
        ],
        ..Matrix::default()
    };
    experiment_with("in-context", Body::Matrix(matrix))
}
