//! Records that make a machine, and records that cannot.

use super::*;
use crate::record;
use cyclewise_sim::Machine;

/// A record with these rows: name and median.
fn record(rows: &[(&str, f64)], topology: &str) -> Record {
    let variants: Vec<String> = rows
        .iter()
        .map(|(name, ns)| {
            format!(
                r#"{{"name":"{name}","n":1,"rejected":0,"mean":{ns},"sd":0.0,"median":{ns},"min":{ns},"ci95":[{ns},{ns}],"code_bytes":null,"samples":[{ns}]}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"schema":"cyclewise.record/1","created":"2026-01-02T03:04:05Z","tool":{{"version":"0.1.0","commit":null}},"seed":1,
        "machine":{{"arch":"x86_64","cpu_model":"Example® CPU @ 2.40GHz","cpus":4,{topology}"kernel":"6.1","hypervisor":null,
        "tsc_hz":3e9,"core_cycles_per_tick":null,"clocksource":"tsc","governor":null,"smt":null,"mitigations":{{}},"steal_ticks":0,"warnings":[]}},
        "experiments":[{{"name":"core-to-core","question":"?","source":"","unit":"ns/op","variants":[{}],"comparisons":[],"notes":[]}}]}}"#,
        variants.join(",")
    );
    record::from_str("r.json", &text).unwrap()
}

const FOUR: &str = r#""topology":{"sockets":1,"clusters":1,"cores":4,"cpus":4},"#;

const SKYLAKE: [(&str, f64); 9] = [
    ("socket-0-1", 20.0),
    ("fetch-add-t1", 7.0),
    ("cas-loop-t1", 12.0),
    ("fetch-add-t2", 22.1),
    ("cas-loop-t2", 54.3),
    ("fetch-add-t3", 23.3),
    ("cas-loop-t3", 75.6),
    ("fetch-add-t4", 24.1),
    ("cas-loop-t4", 86.8),
];

#[test]
fn what_was_measured_is_in_the_file_and_the_rest_is_marked() {
    let fitted = fit("r.json", &record(&SKYLAKE, FOUR)).unwrap();
    let machine = Machine::parse(&fitted.toml, "x.toml").unwrap();
    assert_eq!(machine.name, "Example CPU 2.40GHz");
    assert_eq!(machine.topology.cpus(), 4);
    assert_eq!((machine.ghz, machine.latency.remote_ns), (3.0, None));
    assert!(
        (10.0..40.0).contains(&machine.latency.socket_ns.unwrap()),
        "{:?}",
        machine.latency
    );
    for key in ["ghz", "latency.hit_ns", "cost.pause_cycles"] {
        assert!(machine.fitted.iter().any(|k| k == key), "{key}: {:?}", machine.fitted);
    }
    assert_eq!(fitted.rows.len(), 8);
    let kept = &machine.published[1];
    assert_eq!(
        (kept.workload.as_str(), kept.threads, kept.value),
        ("cas-loop", 1, 12.0)
    );
    assert_eq!(machine.published.len(), 8);
    assert!(fitted.toml.starts_with("# Made by") && fitted.toml.contains("# fetch-add, 1 thread: measured 7.00"));
}

#[test]
fn what_is_missing_is_named() {
    let error = |record: &Record| fit("r.json", record).unwrap_err().message;
    let mut none = record(&SKYLAKE, FOUR);
    none.experiments.clear();
    assert!(error(&none).contains("does not hold the experiment core-to-core"));
    assert!(error(&record(&SKYLAKE, "")).contains("run core-to-core again"));
    let uneven = r#""topology":{"sockets":1,"clusters":1,"cores":3,"cpus":4},"#;
    assert!(error(&record(&SKYLAKE, uneven)).contains("4 CPUs in 3 cores"));
    assert!(error(&record(&SKYLAKE[..1], FOUR)).contains("fetch-add"));
}

#[test]
fn noise_does_not_make_near_slower_than_far() {
    let r = record(
        &[("sibling-0-1", 12.0), ("socket-0-2", 50.0), ("remote-0-3", 45.0)],
        FOUR,
    );
    let latency = latency(&r.experiments[0], 4.0);
    assert_eq!(
        (
            latency.sibling_ns,
            latency.cluster_ns,
            latency.socket_ns,
            latency.remote_ns
        ),
        (Some(12.0), None, Some(45.0), Some(45.0))
    );
    assert_eq!(latency.hit_ns, 1.0);
}

#[test]
fn names_have_the_letters_that_files_take() {
    assert_eq!(called("  AMD EPYC™ 9R14,  96-Core "), "AMD EPYC 9R14 96-Core");
    assert_eq!(called("®"), "this machine");
}
