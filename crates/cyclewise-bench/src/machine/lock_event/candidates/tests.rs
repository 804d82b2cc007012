//! The choice of events on made-up trees of /sys.

use super::*;
use crate::machine::fake::Tree;

fn cpuinfo(vendor: &str) -> CpuInfo {
    CpuInfo::parse(&format!("processor\t: 0\nvendor_id\t: {vendor}\n"))
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let tree = Tree::new();
    for (path, text) in files {
        tree.write(&format!("{SOURCES}/{path}"), text);
    }
    tree
}

fn on(tree: &Tree, vendor: &str) -> Vec<LockEvent> {
    candidates(&tree.fs(), "x86_64", &cpuinfo(vendor)).0
}

#[test]
fn skylake_samples_precise_lock_loads() {
    let tree = tree(&[
        ("cpu/type", "4"),
        ("cpu/caps/pmu_name", "skylake"),
        ("cpu/caps/max_precise", "3"),
    ]);
    let events = on(&tree, "GenuineIntel");
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.name, "cpu MEM_INST_RETIRED.LOCK_LOADS (event 0xd0, umask 0x21)");
    assert_eq!(
        (event.sampled.pmu, event.sampled.config, event.sampled.precise),
        (4, 0x21d0, 2)
    );
    assert!(event.sampled.user_only && event.cpus.is_none() && event.kind == SampleMeaning::Instructions);
}

#[test]
fn haswell_has_another_name_and_nehalem_another_event() {
    let haswell = tree(&[("cpu/type", "4"), ("cpu/caps/pmu_name", "haswell")]);
    let events = on(&haswell, "GenuineIntel");
    assert_says!(events[0].name, "MEM_UOPS_RETIRED.LOCK_LOADS");
    // A guest without PEBS.
    assert_eq!(events[0].sampled.precise, 0);
    for model in OTHERS {
        let old = tree(&[("cpu/type", "4"), ("cpu/caps/pmu_name", model)]);
        assert_eq!(on(&old, "GenuineIntel"), [], "{model}");
    }
}

#[test]
fn a_hybrid_has_an_event_for_each_kind_of_core() {
    let tree = tree(&[
        ("cpu_core/type", "4"),
        ("cpu_core/cpus", "0-15"),
        ("cpu_core/caps/pmu_name", "alderlake_hybrid"),
        ("cpu_core/caps/max_precise", "3"),
        ("cpu_atom/type", "10"),
        ("cpu_atom/cpus", "16-19"),
        ("cpu_atom/caps/max_precise", "3"),
    ]);
    let events = on(&tree, "GenuineIntel");
    assert_eq!(events.len(), 2);
    assert!(events[0].name.starts_with("cpu_core MEM_INST_RETIRED") && events[1].name.starts_with("cpu_atom MEM_UOPS"));
    assert_eq!(
        (events[1].sampled.pmu, events[1].instructions.config),
        (10, 10 << 32 | 1)
    );
    assert_eq!(events[1].cpus.as_deref(), Some(&[16, 17, 18, 19][..]));
}

#[test]
fn amd_samples_ops_and_counts_locks() {
    let files = [
        ("ibs_op/type", "11"),
        ("ibs_op/format/cnt_ctl", "config:19"),
        ("cpu/type", "4"),
    ];
    let events = on(&tree(&files), "AuthenticAMD");
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!((event.sampled.pmu, event.sampled.config), (11, 1 << 19));
    assert!(event.sampled.raw && event.kind == SampleMeaning::Ops);
    // IBS refuses exclude_kernel unless the driver filters.
    assert!(!event.sampled.user_only && event.sampled.config2 == 0);
    assert_eq!(event.total.map(|t| (t.pmu, t.config)), Some((4, 0x0f25)));
    let filtered = tree(&[files[0], files[1], ("ibs_op/format/swfilt", "config2:0")]);
    let [event] = &on(&filtered, "AuthenticAMD")[..] else {
        panic!()
    };
    assert!(event.sampled.user_only && event.sampled.config2 == 1 && event.total.is_none());
    // The first IBS counts only cycles.
    assert_eq!(on(&tree(&files[..1]), "AuthenticAMD"), []);
    // An Intel has no use for it.
    assert_eq!(on(&tree(&files[..2]), "GenuineIntel"), []);
}

#[test]
fn arm_tries_atomics_and_exclusives_of_each_cluster() {
    let tree = tree(&[
        ("armv8_cortex_a53/type", "8"),
        ("armv8_cortex_a53/cpus", "0-3"),
        ("armv8_cortex_a72/type", "9"),
        ("armv8_cortex_a72/cpus", "4-5"),
    ]);
    let (events, evidence) = candidates(&tree.fs(), "aarch64", &CpuInfo::default());
    let codes: Vec<_> = events.iter().map(|e| (e.sampled.pmu, e.sampled.config)).collect();
    let of = |pmu| [(pmu, 0x8177), (pmu, 0x8176), (pmu, 0x8174), (pmu, 0x6f)];
    assert_eq!(codes, [of(8), of(9)].concat());
    assert_says!(evidence, "armv8_cortex_a53, armv8_cortex_a72");
}

#[test]
fn a_guest_without_a_pmu_has_nothing_to_try_and_says_what_there_is() {
    let tree = tree(&[("software/type", "1"), ("tracepoint/type", "2")]);
    let (events, evidence) = candidates(&tree.fs(), "x86_64", &cpuinfo("AuthenticAMD"));
    assert_eq!(events, []);
    assert_says!(evidence, "software, tracepoint", "AuthenticAMD");
    let (events, evidence) = candidates(&Tree::new().fs(), "x86_64", &cpuinfo("GenuineIntel"));
    assert!(events.is_empty() && evidence.contains("cannot be listed"), "{evidence}");
    // A type that is no number.
    assert_eq!(on(&self::tree(&[("cpu/type", "x")]), "GenuineIntel"), []);
}

#[test]
fn the_rate_is_no_higher_than_the_kernel_takes() {
    let tree = tree(&[("cpu/type", "4")]);
    let rate = |tree: &Tree| on(tree, "GenuineIntel")[0].sampled.rate;
    assert_eq!(rate(&tree), Rate::PerSecond(1000));
    tree.write("/proc/sys/kernel/perf_event_max_sample_rate", "250");
    assert_eq!(rate(&tree), Rate::PerSecond(250));
    tree.write("/proc/sys/kernel/perf_event_max_sample_rate", "100000");
    assert_eq!(rate(&tree), Rate::PerSecond(1000));
}
