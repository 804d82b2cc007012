//! References on a two-socket x86 machine with 112 CPUs: an exchange loop compared with a single atomic.

use super::estimate::estimates;
use super::{Asked, Report, Role, preset, validated};
use crate::{Job, Workload};

const SOURCE: &str = "T. Gleixner, atomics: Provide rcuref, LKML 2023";

/// Thread counts of the targets, from where the loop begins to lose.
const THREADS: [u32; 3] = [28, 56, 112];

pub(super) fn refcounts() -> Report {
    let machine = preset("xeon-112");
    let mut targets = Vec::new();
    for threads in THREADS {
        let (inc_not_zero, rcuref) = (
            Job::new(Workload::IncNotZero, threads),
            Job::new(Workload::Rcuref, threads),
        );
        let is_whole = threads == machine.topology.cpus();
        if is_whole {
            let retries = Asked {
                what: format!("retries per inc_not_zero, {threads} threads"),
                asked: (4.0, 12.0),
                unit: "retries/op",
                role: Role::Fitted,
                source: SOURCE,
            };
            let jobs = [inc_not_zero.clone()];
            targets.push(retries.with(
                &machine,
                estimates(&machine, &jobs, |outcomes| outcomes[0].retries_per_success),
            ));
        }
        let gain = Asked {
            what: format!("throughput of rcuref relative to inc_not_zero, {threads} threads"),
            asked: (1.2, 4.7),
            unit: "ratio",
            role: if is_whole { Role::Fitted } else { Role::Predicted },
            source: SOURCE,
        };
        let ratio = |outcomes: &[&crate::Outcome]| outcomes[1].ops_per_s / outcomes[0].ops_per_s;
        targets.push(gain.with(&machine, estimates(&machine, &[inc_not_zero, rcuref], ratio)));
    }
    Report {
        machines: vec![validated(&machine, "the retries and the gain at 112 threads")],
        targets,
        rows: Vec::new(),
    }
}
