//! Figures of mails and papers that a machine of `machines/` was fitted to, or that follow from its fit: each run of a prediction has them.
//!
//! The published open-close test has a thread per CPU, or forks; the mails do not say whether threads share a descriptor table. Here they do not.
//! In its reference count are no exchange loops: with them, at any limit, every thread soon waits there, which the mails discuss next.

use cyclewise_sim::machine::Arbiter;
use cyclewise_sim::predict::predict;
use cyclewise_sim::{Job, Machine, Outcome, Placement, Workload, simulate};

fn preset(name: &str) -> Machine {
    Machine::preset(name).unwrap().machine().unwrap()
}

fn runs(machine: &Machine, job: &Job) -> Vec<Outcome> {
    predict(machine, job).unwrap().runs
}

/// The least and the most.
fn ends(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, 0.0], |[least, most], value| {
        [least.min(value), most.max(value)]
    })
}

/// The throughput of some runs relative to that of others on the same machines.
fn gain(one: &[Outcome], other: &[Outcome]) -> [f64; 2] {
    ends(
        one.iter()
            .zip(other)
            .map(|(one, other)| one.ops_per_s / other.ops_per_s),
    )
}

fn retries(runs: &[Outcome]) -> [f64; 2] {
    ends(runs.iter().map(|run| run.retries_per_success))
}

#[track_caller]
fn within([least, most]: [f64; 2], [low, high]: [f64; 2]) {
    let what = format!("{least} to {most} is not in {low} to {high}");
    assert!(low <= least && most <= high, "{what}");
}

fn is_long() -> bool {
    std::env::var_os("CYCLEWISE_LONG").is_some()
}

/// J. Glauber, Disable lockref on arm64, LKML 2019-04-29: about 25 tries in vain on 28 CPUs, one per core or four.
#[test]
fn on_thunderx2_an_exchange_fails_25_times() {
    for placement in [Placement::Compact, Placement::CompactSmt] {
        let job = Job {
            placement,
            ..Job::new(Workload::LockrefUnbounded, 28)
        };
        within(retries(&runs(&preset("thunderx2"), &job)), [15.0, 40.0]);
    }
}

/// J. Glauber, lockref: Limit number of cmpxchg loop retries, LKML 2019-06-05: 60 to 70 % more by a limit of 100, and limits of 15 to 100 alike.
/// J. C. Nair in the same thread, 2019-06-12: a queued lock is 2.5 times as fast as unbounded exchanges, on 224 CPUs.
#[test]
fn on_thunderx2_a_retry_limit_gains_and_which_does_not_matter() {
    let thunderx2 = preset("thunderx2");
    let limited = |retry_limit| Job {
        retry_limit,
        ..Job::new(Workload::OpenReadClose, 28)
    };
    let [none, some, more, most] = [None, Some(15), Some(50), Some(100)].map(|limit| runs(&thunderx2, &limited(limit)));
    within(gain(&most, &none), [1.4, 1.9]);
    for other in [some, more] {
        within(gain(&other, &most), [0.91, 1.1]);
    }
    // The twin: where the oldest request is next, the gain is another.
    let mut fair = thunderx2.clone();
    fair.line.arbiter = Arbiter::Fifo;
    let [none, most] = [None, Some(100)].map(|limit| [simulate(&fair, &limited(limit)).unwrap()]);
    assert!(gain(&most, &none)[0] > 1.9, "{most:?} {none:?}");
    if is_long() {
        let of = |workload| runs(&thunderx2, &Job::new(workload, 224));
        let [queued, unbounded] = [Workload::OpenReadCloseQueued, Workload::OpenReadClose].map(of);
        within(gain(&queued, &unbounded), [2.0, 3.0]);
    }
}

/// T. Gleixner, atomics: Provide rcuref, LKML 2023: 1.2 to 4.7 times the throughput, and 8 tries in vain on 112 CPUs.
#[test]
fn on_112_cpus_rcuref_is_faster_than_a_loop() {
    let xeon = preset("xeon-112");
    for threads in if is_long() { &[28, 56, 112][..] } else { &[28] } {
        let [rcuref, loops] = [Workload::Rcuref, Workload::IncNotZero].map(|w| runs(&xeon, &Job::new(w, *threads)));
        within(gain(&rcuref, &loops), [1.2, 4.7]);
        if *threads == 112 {
            within(retries(&loops), [4.0, 12.0]);
        }
    }
}

/// R. Jesus and M. Weiland, PPoPP 2023: on A64FX exchanges are quadratic in the threads, LL/SC is linear, and 20 times as fast on 48.
#[test]
fn on_a64fx_exclusives_scale_and_exchanges_do_not() {
    let a64fx = preset("a64fx-like");
    let of = |workload| [12, 48].map(|threads| runs(&a64fx, &Job::new(workload, threads)));
    let [exclusives, exchanges] = [Workload::LlSc, Workload::CasLoop].map(of);
    // The power of the threads with which the time of one thread's operation grows.
    let growth = |[few, many]: &[Vec<Outcome>; 2]| gain(few, many).map(|gain| 1.0 + gain.log(4.0));
    within(growth(&exchanges), [1.8, 2.2]);
    within(growth(&exclusives), [0.8, 1.2]);
    within(gain(&exclusives[1], &exchanges[1]), [20.0, f64::INFINITY]);
}
