//! An A64FX-like machine: an operation's time grows with the square of the threads for exchanges, and linearly for LL/SC.

use super::estimate::estimates;
use super::{Asked, Report, Role, preset, validated};
use crate::stats::exponent;
use crate::{Job, Outcome, Workload};

const SOURCE: &str = "R. Jesus, M. Weiland, AArch64 Atomics: Might They Be Harming Your Performance?, PPoPP 2023";

/// Thread counts at which the asymptotic law dominates.
const THREADS: [u32; 5] = [4, 8, 16, 32, 48];

pub(super) fn exchanges() -> Report {
    let machine = preset("a64fx-like");
    let jobs = |workload| THREADS.map(|threads| Job::new(workload, threads));
    let both = [Workload::CasLoop, Workload::LlSc].map(|workload| Job::new(workload, THREADS[4]));
    let asked = |what: &str, asked, unit| Asked {
        what: what.to_owned(),
        asked,
        unit,
        role: Role::Fitted,
        source: SOURCE,
    };
    let growth = |outcomes: &[&Outcome]| exponent(&outcomes.iter().map(|outcome| time(outcome)).collect::<Vec<_>>());
    let ratio = |outcomes: &[&Outcome]| outcomes[0].ns_per_op / outcomes[1].ns_per_op;
    let targets = vec![
        asked("time per operation over threads, exchange loop", (1.8, 2.2), "exponent")
            .with(&machine, estimates(&machine, &jobs(Workload::CasLoop), growth)),
        asked("time per operation over threads, LL/SC", (0.8, 1.2), "exponent")
            .with(&machine, estimates(&machine, &jobs(Workload::LlSc), growth)),
        asked("exchange loop to LL/SC, 48 threads", (20.0, f64::MAX), "ratio")
            .with(&machine, estimates(&machine, &both, ratio)),
    ];
    Report {
        machines: vec![validated(&machine, "the shapes of the two curves")],
        targets,
        rows: Vec::new(),
    }
}

/// Threads, and the mean time of one operation for one of them.
fn time(outcome: &Outcome) -> (f64, f64) {
    let threads = f64::from(outcome.threads);
    (threads, outcome.ns_per_op * threads)
}
