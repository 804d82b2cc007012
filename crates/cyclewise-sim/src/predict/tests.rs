//! No step: predictions move with their inputs; and what two regimes look like.

use super::*;
use crate::engine::Law;
use crate::exam::laws::{LAWS, Space};
use crate::run::Run;
use crate::{Length, Relax, Topology, Workload};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;

/// By which factor an input moves.
const MOVED: f64 = 1.3;
/// By how much more than that a prediction may move.
const MOST: f64 = 1.5;
/// What seeds alone do.
const NOISE: f64 = 0.06;

const fn topology() -> Topology {
    Topology::new(1, 1, 8, 1)
}

/// A machine with learnable laws, and a job for it.
fn any_case() -> impl Strategy<Value = (Machine, Job)> {
    let topology = (1..=2_u32, 1..=2_u32, 2..=4_u32, 1..=2_u32);
    let costs = (
        8..=30_u32,
        8..=30_u32,
        select(&[1_u32, 15, 60, 140][..]),
        20.0..60.0_f64,
        1.5..4.0_f64,
    );
    let laws = proptest::collection::vec(0..100_usize, LAWS);
    let job = (
        select(Workload::ALL),
        2..=32_u32,
        select(&[0_u32, 0, 100, 400][..]),
        any::<bool>(),
    );
    (topology, costs, laws, job).prop_map(|((sockets, clusters, cores, threads), costs, laws, job)| {
        let (rmw, cas, pause, socket, ghz) = costs;
        let mut machine = Machine::plain(Topology {
            sockets,
            clusters_per_socket: clusters,
            cores_per_cluster: cores,
            threads_per_core: threads,
        });
        machine.ghz = ghz;
        (
            machine.cost.rmw_cycles,
            machine.cost.cas_cycles,
            machine.cost.pause_cycles,
        ) = (rmw, cas, pause);
        (machine.cost.jitter, machine.latency.spread) = (0.1, crate::machine::USUAL_SPREAD);
        machine.latency.socket_ns = Some(socket);
        machine.latency.remote_ns = Some(3.0 * socket);
        let space = Space::full();
        let mut choice = space.sizes();
        for (law, at) in choice.iter_mut().zip(laws) {
            *law = at % *law;
        }
        let machine = space.at(choice).apply(&machine);
        let (workload, threads, parallel, pauses) = job;
        let mut job = Job::new(workload, threads.min(machine.cpus()));
        job.relax = if pauses { Relax::Pause } else { Relax::None };
        job.parallel_cycles += parallel;
        job.retry_limit = Some(100);
        job.length = Length::Steady { most_per_thread: 500 };
        (machine, job)
    })
}

/// Simulates a job; the tests break a law in some.
type Simulate = dyn Fn(&Machine, &Job) -> Result<Outcome, Error>;

/// By how much the prediction moves, as a logarithm, if the clock or the transfers do; `None` where it is none, or in two regimes.
fn moves(run: &Simulate, machine: &Machine, job: &Job, clock: f64, transfers: f64) -> Option<f64> {
    let time = |machine: &Machine| {
        let prediction = predict_by(run, machine, job).ok()?;
        let is_one = prediction.range().regimes.is_empty();
        let logs = prediction.runs.iter().map(|run| run.ns_per_op.ln());
        is_one.then(|| logs.sum::<f64>() / RUNS.len() as f64)
    };
    Some(time(&machine.with_times(clock, transfers))? - time(machine)?)
}

#[test]
fn no_prediction_moves_by_more_than_its_inputs_do() {
    let cases = if crate::is_long() { 150 } else { 6 };
    let config = Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let told = Cell::new(0);
    let holds = |(machine, job): (Machine, Job)| {
        for (clock, transfers) in [(MOVED, 1.0), (1.0, MOVED)] {
            if let Some(moved) = moves(&run::run, &machine, &job, clock, transfers) {
                told.set(told.get() + 1);
                prop_assert!(
                    moved.abs() <= MOST * MOVED.ln() + NOISE,
                    "{moved} by {clock} and {transfers}"
                );
            }
        }
        Ok(())
    };
    runner.run(&any_case(), holds).unwrap();
    assert!(told.get() >= cases, "{} of {cases}", told.get());
}

/// The twin: where requests take their mean time to the owner, the owner gets a further operation at once, and a row becomes faster by half.
#[test]
fn a_way_that_is_not_drawn_is_a_step_and_is_caught() {
    let (mut machine, mut job) = (Machine::plain(topology()), Job::new(Workload::FetchAdd, 8));
    (machine.line.probe_share, machine.line.queue) = (0.2, crate::machine::Queue::AtHome);
    machine.latency.spread = 0.0;
    job.length = Length::Steady { most_per_thread: 500 };
    // A fifth of 40 ns is longer than an addition and its step from 2.4 GHz on.
    let largest = |run: &Simulate| {
        let at = |clock: u32| {
            let mut machine = machine.clone();
            machine.ghz = f64::from(clock) / 20.0;
            run(&machine, &job).unwrap().ns_per_op
        };
        let moved = |from: u32, to: u32| (at(from) / at(to)).ln() / (f64::from(to) / f64::from(from)).ln();
        let moves = (30..=70).step_by(2).map(|clock| moved(clock, clock + clock / 6));
        moves.fold(0.0, f64::max)
    };
    let (drawn, broken) = (
        largest(&run::run),
        largest(&|machine, job| Run::broken(machine, job, Law::DrawnWay)),
    );
    assert!(drawn <= MOST && broken > 2.0 * MOST, "{drawn} {broken}");
}

#[test]
fn two_regimes_are_two_ranges_and_one_is_one() {
    let of = |times: &[f64]| {
        let machine = Machine::plain(topology());
        let any = crate::simulate(&machine, &Job::new(Workload::FetchAdd, 2)).unwrap();
        let run = |ns: &f64| Outcome {
            ns_per_op: *ns,
            ..any.clone()
        };
        Prediction {
            runs: times.iter().map(run).collect(),
        }
    };
    let one = of(&[120.0, 90.0, 100.0, 110.0, 95.0, 105.0, 130.0]);
    assert_eq!(
        one.range(),
        Range {
            ns: [90.0, 130.0],
            regimes: Vec::new()
        }
    );
    assert_eq!(one.middle().ns_per_op, 105.0);
    let two = of(&[70.5, 121.0, 70.0, 71.0, 118.0, 72.0, 119.0]).range();
    assert_eq!(
        (two.ns, two.regimes),
        ([70.0, 121.0], vec![[70.0, 72.0], [118.0, 121.0]])
    );
}
