//! References on a two-socket x86 machine with 112 CPUs: an exchange loop compared with a single atomic.

use super::{Report, Role, Target, outcome, preset, validated};
use crate::{Job, Workload};

const SOURCE: &str = "T. Gleixner, atomics: Provide rcuref, LKML 2023";

/// Thread counts of the targets, from where the loop begins to lose.
const THREADS: [u32; 3] = [28, 56, 112];

pub(super) fn refcounts() -> Report {
    let machine = preset("xeon-112");
    let mut targets = Vec::new();
    for threads in THREADS {
        let inc_not_zero = outcome(&machine, &Job::new(Workload::IncNotZero, threads));
        let rcuref = outcome(&machine, &Job::new(Workload::Rcuref, threads));
        if threads == machine.topology.cpus() {
            targets.push(Target {
                machine: machine.name.clone(),
                what: format!("retries per inc_not_zero, {threads} threads"),
                asked: (4.0, 12.0),
                seen: inc_not_zero.retries_per_success,
                unit: "retries/op",
                role: Role::Fitted,
                source: SOURCE,
            });
        }
        targets.push(Target {
            machine: machine.name.clone(),
            what: format!("throughput of rcuref relative to inc_not_zero, {threads} threads"),
            asked: (1.2, 4.7),
            seen: rcuref.ops_per_s / inc_not_zero.ops_per_s,
            unit: "ratio",
            role: if threads == machine.topology.cpus() {
                Role::Fitted
            } else {
                Role::Predicted
            },
            source: SOURCE,
        });
    }
    Report {
        machines: vec![validated(&machine, "the retries and the gain at 112 threads")],
        targets,
        rows: Vec::new(),
    }
}
