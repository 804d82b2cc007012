//! A made-up report for the tests of outputs: three groups, one of them too small to test, an outlier, and text that must be
//! escaped.

use crate::record::fleet::{Problem, ProblemKind};
use crate::record::fleet_report::{
    Component, Components, Difference, Distance, Feature, FleetReport, Group, GroupSpread, MachineHead, MachineValue,
    Outlier, Pair, RowSpread, SCHEMA, Search, SeenPromise, UnlikeMachine, Verified,
};
use crate::record::{Tool, Unit};

/// Bins of a row's range.
const BINS: usize = 40;

/// The report of `machines` machines: six of ten in group A, the rest in B, and the last one alone in C.
pub(crate) fn report(machines: usize) -> FleetReport {
    let group_of = |m: usize| match m {
        _ if m + 1 == machines => 2,
        _ if m % 10 < 6 => 0,
        _ => 1,
    };
    let head = |m: usize| MachineHead {
        name: match m {
            7 => "odd \"name\"\\\n7 <b>".to_owned(),
            _ => format!("node-{m:05}"),
        },
        group: group_of(m),
        files: vec![format!("records/node-{m:05}.json.gz")],
        runs: 3,
        steal: m.is_multiple_of(2).then_some(if m == 3 { 0.11 } else { 0.001 }),
    };
    let machines_of = |g: usize| (0..machines).filter(|m| group_of(*m) == g).count();
    let rows = [
        ("lock-prefix", "lock-inc64", Unit::NanosPerOp, true, 5.0, 1.4),
        ("null-syscall", "getppid", Unit::NanosPerOp, true, 180.0, 0.7),
        ("time", "make -j2", Unit::Seconds, true, 12.0, 1.0),
        ("spinlock-contention", "queued-4", Unit::OpsPerSecond, true, 2.5e6, 1.1),
        ("lock-prefix", "lock-add32", Unit::NanosPerOp, false, 5.1, 1.4),
    ];
    let rows: Vec<RowSpread> = rows
        .into_iter()
        .map(|(experiment, variant, unit, headline, base, factor)| {
            let value = |m: usize| {
                let wobble = 1.0 + 0.01 * ((m * 7919 % 101) as f64 / 101.0 - 0.5);
                let of_group = [1.0, factor, factor * 1.02][group_of(m)];
                base * of_group * wobble * if m == 3 && variant == "lock-inc64" { 1.9 } else { 1.0 }
            };
            row(experiment, variant, unit, headline, machines, &value, &group_of)
        })
        .collect();
    FleetReport {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            version: "0.1.0".to_owned(),
            commit: None,
        },
        records: machines + 2,
        machines: (0..machines).map(head).collect(),
        groups: vec![
            group("A", machines_of(0), "AMD EPYC 7B13", "0xa0011d1", "6.1.0-18"),
            group("B", machines_of(1), "AMD EPYC 7B13", "0xa0011d5", "6.6.30"),
            group("C", 1, "Intel Xeon 8481C", "0x2b0005c0", "6.6.30"),
        ],
        rows,
        unlike: vec![UnlikeMachine {
            machine: 3,
            slower: true,
            together: None,
            sentence: outlier().sentence,
        }],
        outliers: vec![outlier()],
        search: Search {
            tests: 4 * (machines - 1),
            together: machines - 1,
            untested_machines: 1,
            rate: 0.05,
        },
        differences: vec![
            difference("lock-prefix", "lock-inc64", 1.4),
            difference("null-syscall", "getppid", 0.7),
        ],
        pairs: vec![Pair {
            groups: [0, 1],
            facts: vec!["microcode".to_owned(), "kernel".to_owned()],
            differ: 2,
            within: 2,
            undecided: 0,
            sentence: "B (microcode 0xa0011d5, Linux 6.6.30) against A (0xa0011d1, 6.1.0-18): lock-inc64 1.40 times [1.39, 1.41], \
                       getppid 0.70 times [0.69, 0.71]; 2 other rows within 1 %"
                .to_owned(),
        }],
        verified: vec![Verified {
            what: "percpu".to_owned(),
            nodes: machines,
            broken: vec![SeenPromise {
                node: "node-00009".to_owned(),
                name: "sums-are-exact".to_owned(),
                seen: "3 of 9 000 000 counts are lost (the promise: no count is lost)".to_owned(),
                file: "records/node-00009.json.gz".to_owned(),
            }],
            not_shown: Vec::new(),
        }],
        features: vec![
            feature(
                "rseq",
                &[("ok", machines - 1), ("absent", 1)],
                &[("node-00004", "absent", "Linux 4.14 has none")],
            ),
            feature("invariant TSC", &[("ok", machines)], &[]),
        ],
        problems: vec![
            Problem {
                name: "records/n99.json".to_owned(),
                kind: ProblemKind::Torn,
                why: "ends too early (truncated?): line 1 column 31".to_owned(),
            },
            Problem {
                name: "node-00100".to_owned(),
                kind: ProblemKind::Missing,
                why: "it was planned and has no record".to_owned(),
            },
        ],
        notes: vec!["in-context has a matrix and no rows, so it is left out".to_owned()],
    }
}

fn row(
    experiment: &str,
    variant: &str,
    unit: Unit,
    headline: bool,
    machines: usize,
    value: &dyn Fn(usize) -> f64,
    group_of: &dyn Fn(usize) -> usize,
) -> RowSpread {
    let values: Vec<MachineValue> = (0..machines)
        .map(|m| MachineValue {
            machine: m as u32,
            runs: 3,
            n: 1500,
            value: value(m),
            ci95: [value(m) * 0.998, if m == 5 { f64::NAN } else { value(m) * 1.003 }],
        })
        .collect();
    let of_machine = |m: u32| group_of(m as usize);
    let least = values.iter().map(|v| v.value).fold(f64::INFINITY, f64::min);
    let most = values.iter().map(|v| v.value).fold(0.0, f64::max);
    let spread = |g: usize| {
        let mut sorted: Vec<f64> = values
            .iter()
            .filter(|v| of_machine(v.machine) == g)
            .map(|v| v.value)
            .collect();
        sorted.sort_by(f64::total_cmp);
        let rank = |share: f64| sorted[(share * (sorted.len() - 1) as f64) as usize];
        let mut bins = vec![0; BINS];
        for v in &sorted {
            let share = (v / least).ln() / (most / least).ln();
            bins[((share * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        GroupSpread {
            group: g,
            machines: sorted.len(),
            median: rank(0.5),
            ci95: if sorted.len() > 5 {
                [Some(rank(0.45)), Some(rank(0.55))]
            } else {
                [None, None]
            },
            spread: (sorted.len() > 2).then_some(0.0029),
            quantiles: [0.05, 0.25, 0.75, 0.95].map(rank),
            bins,
        }
    };
    let component = |sd: f64| {
        Some(Component {
            sd,
            ci95: [Some(sd * 0.8), Some(sd * 1.3)],
        })
    };
    RowSpread {
        experiment: experiment.to_owned(),
        variant: variant.to_owned(),
        unit,
        headline,
        machines,
        range: [least, most],
        groups: (0..3).map(spread).collect(),
        components: Some(Components {
            between_groups: component(0.21),
            between_machines: component(0.0031),
            between_runs: component(0.0012),
        }),
        distances: if headline {
            values.iter().map(|v| distance(v, of_machine(v.machine))).collect()
        } else {
            Vec::new()
        },
        values,
    }
}

fn distance(value: &MachineValue, group: usize) -> Distance {
    let far = value.machine == 3;
    match group {
        2 => Distance {
            sigmas: f64::NAN,
            p: f64::NAN,
            q: f64::NAN,
        },
        _ => Distance {
            sigmas: if far { 220.0 } else { 0.5 },
            p: if far { 1e-30 } else { 0.6 },
            q: if far { 4e-27 } else { 0.9 },
        },
    }
}

fn group(name: &str, machines: usize, cpu: &str, microcode: &str, kernel: &str) -> Group {
    let facts = [
        ("arch", "x86_64"),
        ("cpu", cpu),
        ("microcode", microcode),
        ("kernel", kernel),
    ];
    Group {
        name: name.to_owned(),
        facts: facts.map(|(fact, value)| (fact.to_owned(), value.to_owned())).to_vec(),
        label: format!("microcode {microcode}, {cpu}, Linux {kernel}"),
        machines,
    }
}

fn outlier() -> Outlier {
    Outlier {
        machine: 3,
        experiment: "lock-prefix".to_owned(),
        variant: "lock-inc64".to_owned(),
        unit: Unit::NanosPerOp,
        value: 9.5,
        ratio: 1.9,
        sigmas: 220.0,
        p: 1e-30,
        q: 4e-27,
        runs_beyond: 3,
        runs: 3,
        evidence: vec!["steal 11 %".to_owned(), "lock-add32 1.9 times".to_owned()],
        sentence: "node-00003: lock-inc64 1.9 times its group's median in 3 of 3 runs, steal 11 %".to_owned(),
    }
}

fn difference(experiment: &str, variant: &str, ratio: f64) -> Difference {
    Difference {
        groups: [0, 1],
        facts: vec!["microcode".to_owned(), "kernel".to_owned()],
        experiment: experiment.to_owned(),
        variant: variant.to_owned(),
        ratio,
        ci95: [Some(ratio * 0.99), Some(ratio * 1.01)],
        q: 1e-9,
        sentence: format!("{variant} {ratio} times"),
    }
}

fn feature(name: &str, counts: &[(&str, usize)], unlike: &[(&str, &str, &str)]) -> Feature {
    Feature {
        name: name.to_owned(),
        counts: counts.iter().map(|(status, n)| ((*status).to_owned(), *n)).collect(),
        unlike: unlike
            .iter()
            .map(|(node, status, value)| ((*node).to_owned(), (*status).to_owned(), (*value).to_owned()))
            .collect(),
    }
}
