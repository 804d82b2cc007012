//! `in-context`: what an operation adds to the code around it.
//!
//! Tables of instruction costs, the other experiments' included, repeat one operation back to back. A CPU that executes
//! other work beside it may hide all of that, so it is mostly an upper bound: some surroundings add more, such as LFENCE
//! between loads and stores. Here each operation stands between repetitions of surroundings, and the same surroundings
//! run alone in the same round. The loops are those of the package `cyclewise-context`, the difference is computed by
//! `runner`.

use super::elided::{self, available, elided, left_out};
use super::{Definition, Mode, Options};
use crate::arch::stamp;
use crate::error::{Error, Result};
use crate::machine::cache_sizes;
use crate::record::Unit;
use crate::record::matrix::{self, Matrix};
use crate::runner::{CellBench, Guards, MatrixPlan, MissingVariant, Place, Role, Sampler, Setup, Shape};
use cyclewise_context::{COPIES, CacheSizes, Column, Loop, Operation};
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: "in-context",
    question: "What does an operation add to the code around it?",
    source: "none: tables of instruction costs, such as Agner Fog's and uops.info's, repeat one instruction back to back",
    unit: Unit::TicksPerOp,
    guards: Guards::ThisThread,
    published: &[],
    setup,
};

/// The operation whose batches are long enough in every kind of surroundings; the others run as often.
///
/// As often, because a batch has two stamps and a call, and only an equal share of these cancels. This one, because it
/// exists everywhere, and costs some ticks where nothing hides it.
#[cfg(target_arch = "x86_64")]
const REFERENCE: &str = "lock-inc64";
#[cfg(not(target_arch = "x86_64"))]
const REFERENCE: &str = "atomic-inc";

/// Rounds, and the time after which no further round begins.
fn rounds(mode: Mode) -> (usize, Duration) {
    match mode {
        Mode::Quick => (80, Duration::from_secs(8)),
        Mode::Normal => (400, Duration::from_secs(60)),
        Mode::Full => (1000, Duration::from_secs(300)),
    }
}

fn setup(options: &Options) -> Result<Setup> {
    // All cores of a kind have the same caches.
    let sizes = cache_sizes(options.cpus()?.first().copied().unwrap_or(0));
    let mut loops = cyclewise_context::Matrix::new(CacheSizes {
        l2: sizes.l2,
        l3: sizes.l3,
    });
    let mut notes = vec![
        "a figure is the median of what an operation adds to its surroundings, over rounds that measured both; 0 where its \
         interval is within the floor: what the surroundings add to themselves, and an eighth of an iteration of the loop"
            .to_string(),
    ];
    notes.extend(loops.skipped.iter().map(|s| format!("{} left out: {}", s.name, s.why)));
    let mut missing = Vec::new();
    if let Err(refusal) = available() {
        let names: Vec<&str> = loops.operations.iter().filter(|o| o.elided).map(|o| o.name).collect();
        missing = elided::missing(&names, refusal);
        loops.operations.retain(|o| !o.elided);
        notes.push(left_out("the elided variants", refusal));
    }
    let bench = CellBench::new();
    let iterations = iterations(&bench, &mut loops);
    let (rounds, time) = rounds(options.mode);
    let mut plan = MatrixPlan {
        heads: heads(&loops, &iterations),
        cells: Vec::new(),
        rounds,
        time,
    };
    let mut samplers = Vec::new();
    let make = |surrounding: usize, name: String, mut cell: Box<dyn Loop>| {
        let batch = Box::new(move |n| cell.batch(n, stamp::start));
        bench.cell(name, batch, iterations[surrounding], COPIES)
    };
    let mut add = |role, surrounding: usize, sampler: Box<dyn Sampler>| {
        samplers.push(sampler);
        plan.cells.push(Place { surrounding, role });
    };
    let names: Vec<&str> = loops.columns.iter().map(|c| c.name).collect();
    for (surrounding, column) in loops.columns.into_iter().enumerate() {
        let [alone, again] = column.alone;
        let alone = make(surrounding, format!("alone/{}", column.name), alone);
        add(Role::Alone, surrounding, alone);
        let again = make(surrounding, format!("again/{}", column.name), again);
        add(Role::Again, surrounding, again);
    }
    for (at, operation) in loops.operations.into_iter().enumerate() {
        for (surrounding, cell) in operation.loops.into_iter().enumerate() {
            let name = format!("{}/{}", operation.name, names[surrounding]);
            let made = match operation.elided {
                true => elided(|| make(surrounding, name, cell)),
                false => Ok(make(surrounding, name, cell)),
            };
            if let Some(sampler) = made_or_missing(made, operation.name, names[surrounding], &mut missing) {
                add(Role::With(at), surrounding, sampler);
            }
        }
    }
    Ok(Setup {
        notes,
        samplers,
        missing,
        shape: Shape::Matrix(plan),
        ..Setup::default()
    })
}

/// The cell, or none: then its operation is missing, once, however many of its cells are.
fn made_or_missing(
    made: Result<Box<dyn Sampler>>,
    operation: &str,
    surrounding: &str,
    missing: &mut Vec<MissingVariant>,
) -> Option<Box<dyn Sampler>> {
    let miss = |error: Error| {
        if missing.iter().all(|m| m.name != operation) {
            missing.push(MissingVariant {
                name: operation.to_string(),
                why: format!("not in all surroundings; in {surrounding}: {}", error.message),
                possible: error.possible,
            });
        }
    };
    made.map_err(miss).ok()
}

/// Iterations of a batch in each column.
fn iterations(bench: &CellBench, loops: &mut cyclewise_context::Matrix) -> Vec<u64> {
    let Some(reference) = loops.operations.iter_mut().find(|o| o.name == REFERENCE) else {
        return vec![1; loops.columns.len()];
    };
    let columns = loops.columns.iter().zip(&mut reference.loops);
    columns
        .map(|(column, cell)| {
            let most = column.most.map_or(u64::MAX, |most| most / u64::from(COPIES));
            bench.iterations(&mut |n| cell.batch(n, stamp::start), most)
        })
        .collect()
}

/// The matrix without figures.
fn heads(loops: &cyclewise_context::Matrix, iterations: &[u64]) -> Matrix {
    let surrounding = |(column, iterations): (&Column, &u64)| matrix::Surrounding {
        name: column.name.to_string(),
        short: column.short.to_string(),
        what: column.what.clone(),
        repetitions: iterations * u64::from(COPIES),
        ..matrix::Surrounding::default()
    };
    let operation = |o: &Operation| matrix::Operation {
        name: o.name.to_string(),
        what: o.what.to_string(),
        loop_row: o.loop_row.map(|row| row.map(str::to_string)),
        ..matrix::Operation::default()
    };
    Matrix {
        copies: COPIES,
        surroundings: loops.columns.iter().zip(iterations).map(surrounding).collect(),
        operations: loops.operations.iter().map(operation).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready() -> Setup {
        setup(&Options::default()).unwrap()
    }

    fn plan(setup: &Setup) -> &MatrixPlan {
        match &setup.shape {
            Shape::Matrix(plan) => plan,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_cell_has_its_place() {
        let setup = ready();
        let plan = plan(&setup);
        assert_eq!(plan.cells.len(), setup.samplers.len());
        let (rows, columns) = (plan.heads.operations.len(), plan.heads.surroundings.len());
        assert_eq!(plan.cells.len(), (rows + 2) * columns);
        for surrounding in 0..columns {
            for role in [Role::Alone, Role::Again].into_iter().chain((0..rows).map(Role::With)) {
                let place = Place { surrounding, role };
                assert_eq!(plan.cells.iter().filter(|cell| **cell == place).count(), 1, "{place:?}");
            }
        }
        assert_eq!(plan.heads.surroundings[0].name, matrix::NOTHING);
    }

    #[test]
    fn elided_operations_are_measured_or_missing() {
        let setup = ready();
        let plan = plan(&setup);
        let known = cyclewise_context::Matrix::new(CacheSizes::default());
        for o in known.operations.iter().filter(|o| o.elided) {
            let is_row = plan.heads.operations.iter().any(|row| row.name == o.name);
            let is_missing = setup.missing.iter().any(|m| m.name == o.name);
            assert!(is_row != is_missing, "{}", o.name);
        }
    }

    #[test]
    fn a_cell_that_is_refused_ends_nothing_and_its_operation_is_missing_once() {
        let mut missing = Vec::new();
        for at in ["nothing", "loads-32"] {
            let refused = Err(Error::unsupported("another thread runs"));
            assert!(made_or_missing(refused, "inc-elided", at, &mut missing).is_none());
        }
        assert_eq!(missing.len(), 1);
        assert_eq!(missing[0].name, "inc-elided");
        assert_eq!(
            missing[0].why,
            "not in all surroundings; in nothing: another thread runs"
        );
        // The twin: a cell that can be made.
        let made = Ok(CellBench::new().cell("x".to_string(), Box::new(|n| n), 1, 1));
        assert!(made_or_missing(made, "xadd-elided", "nothing", &mut missing).is_some());
        assert_eq!(missing.len(), 1);
    }

    #[test]
    fn rows_that_loop_elsewhere_name_an_experiment() {
        let setup = ready();
        let operations = plan(&setup).heads.operations.iter();
        for row in operations.filter_map(|o| o.loop_row.as_ref()) {
            assert!(super::super::ALL.iter().any(|d| d.name == row[0]), "{row:?}");
        }
    }

    #[test]
    fn a_sample_of_each_kind_of_surroundings_is_a_cost() {
        let mut setup = ready();
        for at in 0..plan(&setup).heads.surroundings.len() {
            let sample = setup.samplers[2 * at].sample().unwrap();
            // A stamp and its share of the loop cost something everywhere.
            assert!(sample.value > 0.0 && sample.value < 1e9, "{}", sample.value);
        }
    }
}
