//! An A64FX-like machine: an operation's time grows with the square of the threads for exchanges, and linearly for LL/SC.

use super::{Report, Role, Target, outcome, preset, validated};
use crate::stats::exponent;
use crate::{Job, Machine, Workload};

const SOURCE: &str = "R. Jesus, M. Weiland, AArch64 Atomics: Might They Be Harming Your Performance?, PPoPP 2023";

/// Thread counts at which the asymptotic law dominates.
const THREADS: [u32; 5] = [4, 8, 16, 32, 48];

pub(super) fn exchanges() -> Report {
    let machine = preset("a64fx-like");
    let (exchange, pair) = (curve(&machine, Workload::CasLoop), curve(&machine, Workload::LlSc));
    let at_most = |curve: &[(f64, f64)]| curve.last().map_or(f64::NAN, |point| point.1);
    let target = |what: &str, asked, seen, unit| Target {
        machine: machine.name.clone(),
        what: what.to_owned(),
        asked,
        seen,
        unit,
        role: Role::Fitted,
        source: SOURCE,
    };
    let targets = vec![
        target(
            "time per operation over threads, exchange loop",
            (1.8, 2.2),
            exponent(&exchange),
            "exponent",
        ),
        target(
            "time per operation over threads, LL/SC",
            (0.8, 1.2),
            exponent(&pair),
            "exponent",
        ),
        target(
            "exchange loop to LL/SC, 48 threads",
            (20.0, f64::MAX),
            at_most(&exchange) / at_most(&pair),
            "ratio",
        ),
    ];
    let machines = vec![validated(&machine, "the shapes of the two curves")];
    Report {
        machines,
        targets,
        rows: Vec::new(),
    }
}

/// The mean time of one operation for a thread, by threads.
fn curve(machine: &Machine, workload: Workload) -> Vec<(f64, f64)> {
    let time = |threads: u32| {
        let outcome = outcome(machine, &Job::new(workload, threads));
        (f64::from(threads), outcome.ns_per_op * f64::from(threads))
    };
    THREADS.map(time).to_vec()
}
