//! ThunderX2: one set of parameters for all figures of the LKML thread that led to the kernel's retry limit.

use super::estimate::estimates;
use super::{Asked, Report, Role, Target, preset, validated};
use crate::{Job, Machine, Placement, Workload};

const GLAUBER: &str = "J. Glauber, Disable lockref on arm64, LKML 2019-04-29";
const LIMIT: &str = "J. Glauber, lockref: Limit number of cmpxchg loop retries, LKML 2019-06-05";
const LIMITS: &str = "J. Glauber in the same thread, LKML 2019-06-06";
const NAIR: &str = "Jayachandran C. Nair in the same thread, 2019-06-12";

/// Limits that performed alike.
const ALIKE: [u32; 3] = [15, 50, 100];

/// Thread count of the first report.
const THREADS: u32 = 28;

pub(super) fn all() -> Report {
    let machine = preset("thunderx2");
    let mut targets = retries(&machine);
    for test in &TESTS {
        targets.extend(limits(&machine, test));
        targets.push(queued(&machine, test));
    }
    Report {
        machines: vec![validated(&machine, "all targets marked `fitted`")],
        targets,
        rows: Vec::new(),
    }
}

fn retries(machine: &Machine) -> Vec<Target> {
    let placements = [
        ("one per core, one socket", Placement::Compact, Role::Fitted),
        ("four per core, seven cores", Placement::CompactSmt, Role::Predicted),
    ];
    let target = |(words, placement, role)| {
        let job = Job {
            placement,
            ..Job::new(Workload::LockrefUnbounded, THREADS)
        };
        let asked = Asked {
            what: format!("retries per success, {THREADS} threads, {words}"),
            asked: (15.0, 40.0),
            unit: "retries/op",
            role,
            source: GLAUBER,
        };
        asked.with(
            machine,
            estimates(machine, &[job], |outcomes| outcomes[0].retries_per_success),
        )
    };
    placements.map(target).to_vec()
}

/// The open-close test, without exchange loops in the reference count: with them, at any limit, every thread soon waits at that
/// count, which the mails discuss next.
struct Test {
    who: &'static str,
    free: Workload,
    locked: Workload,
    role: Role,
}

/// The first published test has a thread per CPU, and does not say whether they share a descriptor table; the second forks. Both
/// variants are compared with every figure.
const TESTS: [Test; 2] = [
    Test {
        who: "processes",
        free: Workload::OpenReadClose,
        locked: Workload::OpenReadCloseQueued,
        role: Role::Fitted,
    },
    Test {
        who: "threads",
        free: Workload::OpenReadCloseThreads,
        locked: Workload::OpenReadCloseThreadsQueued,
        role: Role::Predicted,
    },
];

fn job(workload: Workload, threads: u32, retry_limit: Option<u32>) -> Job {
    Job {
        retry_limit,
        ..Job::new(workload, threads)
    }
}

fn limits(machine: &Machine, test: &Test) -> [Target; 2] {
    let jobs: Vec<Job> = ALIKE
        .iter()
        .map(|&limit| job(test.free, THREADS, Some(limit)))
        .collect();
    let pair = [job(test.free, THREADS, Some(100)), job(test.free, THREADS, None)];
    let who = test.who;
    let gain = Asked {
        what: format!("open-read-close, limit 100 relative to no limit, {THREADS} {who}"),
        asked: (1.4, 1.9),
        unit: "ratio",
        role: test.role,
        source: LIMIT,
    };
    let alike = Asked {
        what: format!("open-read-close, best relative to worst of limits 15, 50, 100, {THREADS} {who}"),
        asked: (1.0, 1.1),
        unit: "ratio",
        role: test.role,
        source: LIMITS,
    };
    let best_to_worst = |outcomes: &[&crate::Outcome]| {
        let rates = || outcomes.iter().map(|outcome| outcome.ops_per_s);
        rates().fold(0.0, f64::max) / rates().fold(f64::INFINITY, f64::min)
    };
    [
        gain.with(
            machine,
            estimates(machine, &pair, |outcomes| outcomes[0].ops_per_s / outcomes[1].ops_per_s),
        ),
        alike.with(machine, estimates(machine, &jobs, best_to_worst)),
    ]
}

/// On all CPUs, with the proposed reference count: single atomics.
fn queued(machine: &Machine, test: &Test) -> Target {
    let cpus = machine.topology.cpus();
    let pair = [job(test.locked, cpus, None), job(test.free, cpus, None)];
    let asked = Asked {
        what: format!(
            "open-read-close, queued lock relative to unbounded exchanges, {cpus} {}",
            test.who
        ),
        asked: (2.0, 3.0),
        unit: "ratio",
        role: test.role,
        source: NAIR,
    };
    asked.with(
        machine,
        estimates(machine, &pair, |outcomes| outcomes[0].ops_per_s / outcomes[1].ops_per_s),
    )
}
