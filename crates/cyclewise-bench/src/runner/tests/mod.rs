//! The runner's promises on samplers with known behaviour, and twins that break a promise and are caught.

mod not_linear;

use super::guard::Rejection;
use super::*;
use crate::error::{Result, Status};
use crate::record::made_up::record_of;
use crate::record::{Estimator, State, Unit, Verdict};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

struct Silent;

impl Progress for Silent {
    fn step(&self, _: f64, _: &str) {}
}

/// A subject that returns the values of a function and logs each call.
struct Scripted<F> {
    name: &'static str,
    log: Rc<RefCell<Vec<&'static str>>>,
    value: F,
}

impl<F: FnMut() -> Result<f64>> Sampler for Scripted<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        self.log.borrow_mut().push(self.name);
        (self.value)().map(Sample::new)
    }
}

pub(super) type Log = Rc<RefCell<Vec<&'static str>>>;

fn subject(name: &'static str, log: &Log, value: impl FnMut() -> Result<f64> + 'static) -> Box<dyn Sampler> {
    Box::new(Scripted {
        name,
        log: Rc::clone(log),
        value,
    })
}

fn setup(samplers: Vec<Box<dyn Sampler>>) -> Setup {
    Setup {
        samplers,
        compare: vec![(0, 1)],
        control: Control::Repeat(1),
        ..Setup::default()
    }
}

pub(super) const HEADING: Heading<'static> = Heading {
    name: "test",
    question: "Which?",
    source: "a test",
    unit: Unit::Seconds,
    guards: Guards::WholeMachine,
};

pub(super) fn budget(least: usize, most: usize, target: f64) -> Budget {
    Budget {
        least,
        most,
        target,
        time: Duration::from_secs(60),
    }
}

pub(super) fn measure(guards: Guards, setup: &mut Setup, seed: u64, budget: Budget) -> Result<Measurement> {
    let tsc_hz = tick_rate(Duration::from_millis(20));
    let runner = Runner {
        cpu: 0,
        cpus: 1,
        tsc_hz,
        seed,
        parts: 1,
        turns: None,
        progress: &Silent,
    };
    runner.measure(Heading { guards, ..HEADING }, setup, budget)
}

pub(super) fn judged(setup: &Setup, measured: &Measurement) -> Result<crate::record::Experiment> {
    let mut record = record_of(vec![conclude(HEADING, setup, measured, 1)?]);
    give_verdicts(&mut record);
    Ok(record.experiments.remove(0))
}

pub(super) fn constant_pair(log: &Log) -> Setup {
    setup(vec![subject("a", log, || Ok(1.0)), subject("b", log, || Ok(2.0))])
}

#[test]
fn every_round_asks_every_column_once_in_seeded_random_order() {
    let orders: Vec<Vec<&str>> = [7, 7, 8]
        .map(|seed| {
            let log = Log::default();
            measure(
                Guards::WholeMachine,
                &mut constant_pair(&log),
                seed,
                budget(40, 40, 0.0),
            )
            .unwrap();
            log.take()
        })
        .to_vec();
    for round in orders[0].chunks(3) {
        assert_eq!(round.iter().filter(|n| **n == "a").count(), 1);
        assert_eq!(
            round.iter().filter(|n| **n == "b").count(),
            2,
            "b is the control: once as itself, once again"
        );
    }
    assert_eq!(orders[0], orders[1], "the seed decides the order");
    assert_ne!(orders[0], orders[2], "another seed, another order");
    let first_is_a = orders[0].chunks(3).filter(|r| r[0] == "a").count();
    assert!(
        (3..30).contains(&first_is_a),
        "a came first in {first_is_a} of 40 rounds"
    );
}

#[test]
fn it_stops_when_every_variant_is_precise_and_not_before() {
    let log = Log::default();
    let measured = measure(Guards::WholeMachine, &mut constant_pair(&log), 1, budget(10, 500, 0.01)).unwrap();
    // Samples, not rounds: a sample with stolen time costs another round.
    let fewest = measured.columns.iter().map(|c| c.kept().len()).min();
    assert_eq!(fewest, Some(10));
    assert!(measured.imprecise.is_empty());
}

#[test]
fn what_did_not_get_precise_is_named() {
    let log = Log::default();
    let flip = Cell::new(false);
    let noisy = move || {
        flip.set(!flip.get());
        Ok(if flip.get() { 1.0 } else { 3.0 })
    };
    let mut setup = setup(vec![subject("noisy", &log, noisy), subject("calm", &log, || Ok(2.0))]);
    let measured = measure(Guards::WholeMachine, &mut setup, 1, budget(10, 20, 0.01)).unwrap();
    assert_eq!(measured.columns[0].rounds.len(), 20);
    let notes = judged(&setup, &measured).unwrap().notes.join("; ");
    assert!(
        notes.contains("not reached") && notes.contains("noisy") && !notes.contains("calm"),
        "{notes}"
    );
}

#[test]
fn samples_taken_off_the_cpu_are_thrown_away_and_counted() {
    let log = Log::default();
    let sleeps = || {
        std::thread::sleep(Duration::from_millis(1));
        Ok(1.0)
    };
    let mut sleepy = setup(vec![
        subject("sleeps", &log, sleeps),
        subject("computes", &log, || Ok(1.0)),
    ]);
    // On a busy machine even the computing subject loses samples, so it has many tries to keep two.
    let mut tries = (0..1_000).map(|_| measure(Guards::ThisThread, &mut sleepy, 1, budget(10, 10, 0.0)).unwrap());
    let kept =
        |m: &Measurement| m.columns[1].kept().len() >= 2 && m.columns[0].rejected.contains_key(&Rejection::Preempted);
    let measured = tries.find(kept).expect("the twin that computes is kept");
    drop(tries);
    assert_eq!(measured.columns[0].rejected.values().sum::<usize>(), 10);
    let rounds: Vec<usize> = measured.columns[0].rejected_samples.iter().map(|r| r.round).collect();
    assert_eq!(rounds, (0..10).collect::<Vec<_>>(), "each is kept with its round");
    let told = judged(&sleepy, &measured).unwrap().notes.join("; ");
    assert!(
        told.contains("sleeps is missing") && told.contains("only 0 of 10 samples"),
        "{told}"
    );
    assert_eq!(measured.too_few("e")[0].variant.as_deref(), Some("sleeps"));
    // Where no variant has any, there is nothing to tell but why.
    let mut alone = Setup {
        samplers: vec![subject("sleeps", &log, sleeps)],
        ..Setup::default()
    };
    let measured = measure(Guards::ThisThread, &mut alone, 1, budget(10, 10, 0.0)).unwrap();
    let error = judged(&alone, &measured).unwrap_err();
    assert_eq!(error.status, Status::Unsupported);
    assert!(error.message.contains("sleeps: only"), "{}", error.message);
}

/// Synthetic columns: `a` at 1.1 and `b` at 1.0 with a spread of 1 %, and `lost` of every ten rounds rejected.
pub(super) fn made(lost: usize) -> Measurement {
    let spread = |i: usize| 1.0 + 0.01 * ((i * 7 % 11) as f64 / 5.0 - 1.0);
    let column = |name: &str, mean: f64, shift: usize| {
        let rounds = (0..100)
            .map(|i| (i % 10 >= lost).then(|| Sample::new(mean * spread(i + shift))))
            .collect();
        VariantSamples {
            name: name.to_string(),
            rounds,
            rejected: [(Rejection::Stolen, 10 * lost)].into(),
            ..VariantSamples::default()
        }
    };
    Measurement {
        columns: vec![column("a", 1.1, 0), column("b", 1.0, 3)],
        again: Some(column("", 1.0, 5)),
        ..Measurement::default()
    }
}

#[test]
fn lost_samples_take_no_verdict_as_long_as_pairs_are_left() {
    let log = Log::default();
    let setup = constant_pair(&log);
    let calm = judged(&setup, &made(2)).unwrap();
    assert_eq!(calm.comparisons[0].verdict, Verdict::Slower);
    let noisy = judged(&setup, &made(3)).unwrap();
    assert_eq!(noisy.comparisons[0].verdict, Verdict::Slower);
    let note = noisy.notes.join("; ");
    assert!(
        note.contains("30 % of the samples were rejected") && note.contains("taskset"),
        "{note}"
    );
    assert!(!calm.notes.join("; ").contains("rejected"));
    assert_eq!(noisy.variants[0].rejected_by["stolen"], 30);
    assert_eq!(noisy.variants[0].rejected_rounds[..4], [0, 1, 2, 10]);
    // The twin: each loses other rounds, and five pairs are left.
    let mut apart = made(0);
    for (i, column) in apart.columns.iter_mut().enumerate() {
        for round in 0..100 {
            if round % 2 == i && round < 90 || round >= 95 {
                column.rounds[round] = None;
            }
        }
    }
    let lost = judged(&setup, &apart).unwrap();
    assert_eq!(lost.comparisons[0].verdict, Verdict::None);
    let reason = lost.comparisons[0].reason.as_ref().unwrap();
    assert!(reason.contains("lost samples: of 100 rounds, a lost 50"), "{reason}");
}

#[test]
fn a_reference_of_nothing_leaves_a_note_in_place_of_the_comparison() {
    let log = Log::default();
    let setup = constant_pair(&log);
    let mut measured = made(0);
    assert!(
        !judged(&setup, &measured)
            .unwrap()
            .notes
            .join("; ")
            .contains("not compared")
    );
    for sample in measured.columns[1].rounds.iter_mut().flatten() {
        sample.value = 0.0;
    }
    let e = judged(&setup, &measured).unwrap();
    assert!(e.comparisons.is_empty());
    let notes = e.notes.join("; ");
    assert!(
        notes.contains("not compared, because the second has no measurable cost") && notes.contains("a with b"),
        "{notes}"
    );
}

#[test]
fn a_verdict_whose_sign_depends_on_the_neighbour_says_so() {
    let log = Log::default();
    let setup = constant_pair(&log);
    // The neighbour is busy in every other fifty rounds; the first is slower when it is idle and faster when it is not.
    let with_neighbour = |slow: f64| {
        let mut measured = made(0);
        for column in measured.columns.iter_mut().chain(&mut measured.again) {
            for (round, sample) in column.rounds.iter_mut().flatten().enumerate() {
                let busy = round % 100 >= 50;
                sample.probes = vec![if busy { 1.3 } else { 1.0 }; 3];
                sample.value *= if busy && column.name == "a" { slow } else { 1.0 };
            }
        }
        judged(&setup, &measured).unwrap()
    };
    let e = with_neighbour(0.5);
    let c = &e.comparisons[0];
    assert_eq!(c.verdict, Verdict::Depends);
    assert_eq!(
        (c.headline.as_ref().unwrap().verdict, c.states[0].verdict),
        (Verdict::Slower, Verdict::Faster)
    );
    let reason = c.reason.as_ref().unwrap();
    assert!(reason.contains("idle") && reason.contains("busy"), "{reason}");
    assert_eq!(e.probe.as_ref().unwrap().share(State::Quiet), Some(0.5));
    assert_eq!(e.variants[0].sample_states.len(), 100);
    assert_eq!(e.variants[0].headline.as_ref().unwrap().state, State::Quiet);
    // The twin: slower in both states is slower.
    assert_eq!(with_neighbour(2.0).comparisons[0].verdict, Verdict::Slower);
}

#[test]
fn a_proven_difference_of_less_than_half_a_percent_is_the_same() {
    let log = Log::default();
    let setup = constant_pair(&log);
    let verdict = |ratio: f64| {
        let mut measured = made(0);
        let b: Vec<f64> = measured.columns[1].rounds.iter().flatten().map(|s| s.value).collect();
        for (sample, b) in measured.columns[0].rounds.iter_mut().flatten().zip(b) {
            sample.value = ratio * b;
        }
        measured.again = Some(measured.columns[setup_control(&setup)].clone());
        let c = judged(&setup, &measured).unwrap().comparisons.remove(0);
        (c.verdict, c.headline.unwrap().verdict)
    };
    // Proven, as the headline's own verdict says, and too small to be spoken of.
    assert_eq!(verdict(1.003), (Verdict::Same, Verdict::Slower));
    // The twin.
    assert_eq!(verdict(1.008), (Verdict::Slower, Verdict::Slower));
}

/// The index of the variant that is measured twice.
fn setup_control(setup: &Setup) -> usize {
    match setup.control {
        Control::Repeat(i) | Control::Split(i) => i,
    }
}

#[test]
fn welch_decides_where_it_is_asked_for_and_lists_its_four_tests() {
    let log = Log::default();
    let setup = constant_pair(&log);
    let mut record = record_of(vec![conclude(HEADING, &setup, &made(0), 1).unwrap()]);
    give_verdicts_by(&mut record, Estimator::Welch);
    let c = &record.experiments[0].comparisons[0];
    assert_eq!((c.verdict, c.estimator), (Verdict::Slower, Estimator::Welch));
    let names: Vec<&str> = c.tests.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["welch", "mann-whitney", "bootstrap", "noise-floor"]);
    give_verdicts(&mut record);
    let c = &record.experiments[0].comparisons[0];
    assert_eq!((c.verdict, c.estimator), (Verdict::Slower, Estimator::Median));
    assert_eq!(c.tests[0].name, "paired-median");
}

/// Sample `i` of a true 1.0 by a clock that slows by 2 % over `of` samples.
fn drifting(i: usize, of: usize) -> f64 {
    let wobble = 0.001 * ((i * 7 % 11) as f64 / 5.0 - 1.0);
    1.0 + 0.02 * i as f64 / of as f64 + wobble
}

fn drift_verdict(estimator: Estimator, at: impl Fn(usize, usize) -> usize) -> Verdict {
    let log = Log::default();
    let column = |which: usize| VariantSamples {
        name: ["a", "b", ""][which].to_string(),
        rounds: (0..100)
            .map(|round| Some(Sample::new(drifting(at(which, round), 300))))
            .collect(),
        ..VariantSamples::default()
    };
    let measured = Measurement {
        columns: vec![column(0), column(1)],
        again: Some(column(2)),
        ..Measurement::default()
    };
    let mut record = record_of(vec![conclude(HEADING, &constant_pair(&log), &measured, 1).unwrap()]);
    give_verdicts_by(&mut record, estimator);
    record.experiments[0].comparisons[0].verdict
}

#[test]
fn a_clock_that_drifts_does_not_part_what_is_interleaved() {
    let interleaved = |which, round| 3 * round + which;
    for estimator in [Estimator::Median, Estimator::Welch] {
        assert!(!drift_verdict(estimator, interleaved).is_claim());
    }
    // The twin: one variant after the other, the control beside its variant. Means take the drift for a difference; the
    // rounds' differences are seen to depend on each other, and are worth too few to tell.
    let one_after_the_other = |which: usize, round: usize| if which == 0 { round } else { 100 + 2 * round + which - 1 };
    assert_eq!(drift_verdict(Estimator::Welch, one_after_the_other), Verdict::Faster);
    assert_eq!(drift_verdict(Estimator::Median, one_after_the_other), Verdict::None);
}

#[test]
fn cycles_per_tick_is_the_inverse_of_ticks_per_add() {
    let c = cycles_per_tick(&[0.5, 0.5, 0.5, 0.5]).unwrap();
    assert_eq!((c.value, c.ci95), (2.0, [2.0, 2.0]));
    assert!(cycles_per_tick(&[]).is_none() && cycles_per_tick(&[0.5]).is_none());
    assert!(
        cycles_per_tick(&[1.0, -1.0]).is_none(),
        "an interval through zero has no inverse"
    );
}

#[test]
fn the_pmu_rows_become_cycles_and_ipc() {
    let log = Log::default();
    let setup = constant_pair(&log);
    let mut measured = made(0);
    for sample in measured.columns[0].rounds.iter_mut().flatten() {
        sample.metrics = metrics([(CORE_CYCLES, "1", 4.0), (INSTRUCTIONS, "1", 6.0)]);
    }
    let e = judged(&setup, &measured).unwrap();
    let cycles = e.variants[0].cycles.as_ref().unwrap();
    assert_eq!(
        (cycles.per_op, cycles.instructions, cycles.ipc),
        (4.0, Some(6.0), Some(1.5))
    );
    assert_eq!(cycles.source, crate::record::CycleSource::Pmu);
    assert!(e.variants[0].metrics.is_empty());
}
