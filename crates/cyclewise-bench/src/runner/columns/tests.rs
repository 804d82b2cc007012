//! What becomes of a measurement whose variants fail.

use super::*;
use crate::record::Experiment;
use crate::runner::samples::NAMED_ALONE;
use crate::runner::tests::{HEADING, budget, measure};
use crate::runner::{MissingVariant, Setup, conclude};
use std::time::Duration;

/// A subject whose sample number n, from 1, is what a function makes of it.
struct Counted<F> {
    name: &'static str,
    n: usize,
    value: F,
    spoils: bool,
}

impl<F: FnMut(usize) -> Result<f64>> Sampler for Counted<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn spoils_the_others(&self) -> bool {
        self.spoils
    }

    fn sample(&mut self) -> Result<Sample> {
        self.n += 1;
        (self.value)(self.n).map(Sample::new)
    }
}

fn subject(name: &'static str, value: impl FnMut(usize) -> Result<f64> + 'static) -> Box<dyn Sampler> {
    Box::new(Counted {
        name,
        n: 0,
        value,
        spoils: false,
    })
}

/// Good until sample number `last`.
fn good_until(last: usize) -> impl FnMut(usize) -> Result<f64> {
    move |n| {
        (n <= last)
            .then_some(1.0 + (n % 3) as f64)
            .ok_or_else(|| Error::check("boom"))
    }
}

const ROUNDS: usize = 20;

fn measured(setup: &mut Setup) -> Result<Measurement> {
    measure(Guards::WholeMachine, setup, 1, budget(ROUNDS, ROUNDS, f64::INFINITY))
}

fn concluded(setup: &Setup, measured: &Measurement) -> Experiment {
    conclude(HEADING, setup, measured, 1).unwrap()
}

/// Three subjects, of which the middle one fails after `last` samples.
fn middle_fails(last: usize) -> Setup {
    Setup {
        samplers: vec![
            subject("a", good_until(usize::MAX)),
            subject("b", good_until(last)),
            subject("c", good_until(usize::MAX)),
        ],
        compare: vec![(0, 1), (0, 2)],
        control: Control::Repeat(0),
        ..Setup::default()
    }
}

#[test]
fn a_variant_that_fails_keeps_its_rounds_and_the_others_go_on() {
    let mut setup = middle_fails(5);
    let m = measured(&mut setup).unwrap();
    let rounds: Vec<usize> = m.columns.iter().map(|c| c.rounds.len()).collect();
    assert_eq!(rounds, [ROUNDS, 6, ROUNDS]);
    assert_eq!(m.columns[1].rejected[&Rejection::Failed], 1);
    let lost = m.columns[1].rejected_samples.last().unwrap();
    assert_eq!((lost.round, &lost.sample, lost.reason), (5, &None, Rejection::Failed));
    assert_eq!(m.missing.len(), 1);
    assert_eq!(
        (m.missing[0].variant.as_deref(), &*m.missing[0].why),
        (Some("b"), "boom")
    );
    let e = concluded(&setup, &m);
    assert_eq!(e.variants.len(), 3, "five rounds are kept");
    assert_eq!(e.comparisons.len(), 2);
    assert!(
        e.notes.iter().any(|n| n.contains("b is missing or incomplete: boom")),
        "{:?}",
        e.notes
    );
}

#[test]
fn a_variant_that_never_works_is_missing_with_its_comparisons_only() {
    let mut setup = middle_fails(0);
    let m = measured(&mut setup).unwrap();
    let e = concluded(&setup, &m);
    let names: Vec<&str> = e.variants.iter().map(|v| &*v.name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(e.comparisons.len(), 1);
    assert_eq!((&*e.comparisons[0].a, &*e.comparisons[0].b), ("a", "c"));
    assert!(
        e.notes
            .iter()
            .any(|n| n.contains("not compared") && n.contains("a with b")),
        "{:?}",
        e.notes
    );
    assert_eq!(e.control.unwrap().of, "a");
}

#[test]
fn where_none_works_the_first_error_is_told() {
    let mut setup = Setup {
        samplers: vec![subject("a", good_until(0))],
        ..Setup::default()
    };
    assert_eq!(measured(&mut setup).unwrap_err().message, "boom");
}

#[test]
fn where_all_fail_in_the_end_their_rounds_are_kept() {
    let mut setup = Setup {
        samplers: vec![subject("a", good_until(8)), subject("b", good_until(1))],
        ..Setup::default()
    };
    let m = measured(&mut setup).unwrap();
    assert_eq!(m.columns[0].kept().len(), 8);
    let missing: Vec<_> = m.missing.iter().map(|m| m.variant.as_deref().unwrap()).collect();
    assert_eq!(missing, ["b", "a"], "each with its error");
    assert_eq!(concluded(&setup, &m).variants.len(), 1);
    // The twin: one sample has no spread.
    let mut setup = Setup {
        samplers: vec![subject("a", good_until(1))],
        ..Setup::default()
    };
    assert_eq!(measured(&mut setup).unwrap_err().message, "boom");
}

#[test]
fn many_rows_with_too_few_samples_are_one_entry() {
    let missing = |rows: usize| {
        let mut setup = Setup {
            samplers: (0..rows).map(|_| subject("row", good_until(usize::MAX))).collect(),
            ..Setup::default()
        };
        let mut columns = Columns::new(&mut setup, false);
        for column in &mut columns.columns {
            column.samples.rounds = vec![None; 5];
        }
        let budget = Budget {
            least: 1,
            most: 1,
            target: f64::INFINITY,
            time: Duration::ZERO,
        };
        columns.into_measured(HEADING, Vec::new(), budget).too_few(HEADING.name)
    };
    let many = missing(40);
    assert_eq!(many.len(), 1);
    assert_eq!(many[0].variant.as_deref(), Some("40 of 40 variants"));
    assert!(many[0].why.contains("only 0 of 5 samples"), "{}", many[0].why);
    assert_eq!(missing(NAMED_ALONE).len(), NAMED_ALONE, "a few have their own");
}

#[test]
fn an_error_that_spoils_the_others_ends_it() {
    let mut setup = middle_fails(5);
    setup.samplers[1] = Box::new(Counted {
        name: "b",
        n: 0,
        value: good_until(5),
        spoils: true,
    });
    assert_eq!(measured(&mut setup).unwrap_err().message, "boom");
}

#[test]
fn an_error_of_the_first_round_ends_it_where_the_setup_says_so() {
    let ends = |last| {
        let mut setup = Setup {
            first_error_ends: true,
            ..middle_fails(last)
        };
        measured(&mut setup).is_err()
    };
    assert!(ends(0));
    assert!(!ends(3), "later, what was measured is worth more");
}

#[test]
fn what_the_setup_left_out_is_missing_too() {
    let mut setup = middle_fails(usize::MAX);
    setup.missing.push(MissingVariant {
        name: "d".to_string(),
        why: "this CPU has none".to_string(),
        possible: false,
    });
    let m = measured(&mut setup).unwrap();
    assert_eq!(m.missing.len(), 1);
    assert_eq!(
        (m.missing[0].variant.as_deref(), m.missing[0].possible),
        (Some("d"), false)
    );
    assert_eq!(m.missing[0].experiment, "test");
}

/// Takes an interrupt as asked for in sample `at` of the first subject, and returns the outcome.
fn interrupted(at: usize) -> Result<Measurement> {
    let mut setup = middle_fails(usize::MAX);
    setup.control = Control::Split(0);
    setup.samplers[0] = subject("a", move |n| {
        interrupt::pretend(n == at);
        Ok(1.0)
    });
    let outcome = measured(&mut setup);
    interrupt::pretend(false);
    outcome
}

#[test]
fn an_interrupt_keeps_the_rounds_so_far() {
    let m = interrupted(10).unwrap();
    assert!(m.interrupted && m.missing.is_empty());
    let rounds = m.columns.iter().map(|c| c.rounds.len());
    assert!(
        rounds.clone().all(|n| n == 9 || n == 10),
        "the tenth round is cut: {rounds:?}"
    );
    let notes = concluded(&middle_fails(usize::MAX), &m).notes;
    assert!(notes.iter().any(|n| n.contains("cut short")), "{notes:?}");
    // The twin: one round is no measurement; and without an interrupt all are run.
    assert_eq!(interrupted(1).unwrap_err().message, "interrupted");
    let whole = interrupted(usize::MAX).unwrap();
    assert!(!whole.interrupted && whole.columns[0].rounds.len() == ROUNDS);
}

#[test]
fn what_was_kept_is_that_of_the_best_row() {
    let mut setup = middle_fails(usize::MAX);
    let mut columns = Columns::new(&mut setup, false);
    assert_eq!(columns.most_kept(), 0);
    columns.columns[0].samples.rounds = vec![None; 9];
    columns.columns[1].samples.rounds = vec![Some(Sample::new(1.0)); 7];
    columns.columns[1].dropped = true;
    // The control is no row of its own.
    columns.columns[3].samples.rounds = vec![Some(Sample::new(1.0)); 9];
    assert_eq!(
        columns.most_kept(),
        7,
        "an interrupt keeps these, whatever the first has lost"
    );
}
