//! The page of limits is what the records of the tree say, and records of any age make one.

use super::*;
use crate::export::markdown;
use crate::record::made_up::experiment_of;
use crate::record::{self, Figure, Linearity, Run, Variant};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The records that the page is made of, as CONTRIBUTING.md names them.
fn in_the_tree() -> Vec<Record> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root().join("records"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".json"))
        .collect();
    paths.push(root().join("crates/cyclewise-bench/src/runner/data/zen3-noisy.json.gz"));
    paths.iter().map(|path| record::load(path).unwrap()).collect()
}

#[test]
fn the_page_is_what_the_records_say() {
    let page = std::fs::read_to_string(root().join("design/limits.md")).unwrap();
    let tables = markdown::limits(&on_machines(in_the_tree()));
    let new = markdown::with_limits(&page, &tables).expect("the page has its markers");
    assert!(
        new == page,
        "design/limits.md is not what the records say; run the command that CONTRIBUTING.md has for it"
    );
    // What is left is said of each primitive.
    for p in PRIMITIVES {
        assert!(
            page.contains(&format!("\n- **{}.** ", p.name)),
            "{}: what is left, and why?",
            p.name
        );
    }
    // The twin: a record less is another page.
    let less = markdown::with_limits(&page, &markdown::limits(&on_machines(in_the_tree().split_off(1)))).unwrap();
    assert_ne!(less, page);
}

fn made_up(created: &str, rows: &[(&str, &str, f64)]) -> Record {
    let mut r = Record {
        created: created.to_owned(),
        ..Record::default()
    };
    r.machine.cpu_model = "AMD EPYC".to_owned();
    for (experiment, variant, value) in rows {
        let v = Variant {
            name: (*variant).to_owned(),
            n: 1,
            samples: vec![*value],
            headline: Some(Figure {
                median: *value,
                n: 1,
                ..Figure::default()
            }),
            ..Variant::default()
        };
        match r.experiments.iter_mut().find(|e| e.name == *experiment) {
            Some(e) => e.variants.push(v),
            None => r.experiments.push(experiment_of(experiment, vec![v])),
        }
    }
    r
}

fn of_rows(rows: &[(&str, &str, f64)]) -> Limits {
    on_machines(vec![made_up("2026-01-01", rows)])
}

/// As the lab marks a row whose time is not linear in its copies.
fn bend(r: &mut Record, experiment: &str, variant: &str) {
    let e = r.experiments.iter_mut().find(|e| e.name == experiment).unwrap();
    let v = e.variants.iter_mut().find(|v| v.name == variant).unwrap();
    v.linearity = Some(Linearity {
        linear: Some(false),
        ..Linearity::default()
    });
}

fn of_one<'a>(limits: &'a Limits, name: &str) -> &'a PrimitiveCosts {
    let i = PRIMITIVES.iter().position(|p| p.name == name).unwrap();
    &limits.machines[0].primitives[i]
}

const FREE_LOCK: &str = "SpinLock: lock, unlock, free";
const LIST: &str = "FreeList: pop and push";

#[test]
fn rows_that_a_record_lacks_are_dashes() {
    let limits = of_rows(&[
        ("spinlock", "cyclewise", 6.0),
        ("spinlock", "spin", 5.0),
        ("spinlock", "mcs", 9.0),
    ]);
    let lock = of_one(&limits, FREE_LOCK);
    assert!(lock.limit.is_none() && lock.to_limit.is_none());
    assert_eq!(lock.peer.as_ref().unwrap().row, "spin");
    assert!((lock.to_peer.as_ref().unwrap().value - 1.2).abs() < 1e-12);
    assert!(of_one(&limits, LIST).ours.is_none());
    let shown = markdown::limits(&limits);
    assert_says!(
        shown,
        "| SpinLock: lock, unlock, free | — | — | 6.0 | — | spin 5.0 | 1.2 |"
    );
    // Without any row, the record makes no machine.
    let limits = on_machines(vec![made_up("2026-01-01", &[("time", "cmd", 6.0)]), Record::default()]);
    assert!(limits.machines.is_empty() && limits.without.len() == 2);
}

#[test]
fn text_of_a_record_breaks_no_table() {
    let mut r = made_up("2026-01-01\n# X|\u{1b}[2J", &[("spinlock", "cyclewise", 6.0)]);
    r.machine.cpu_model = "A|B\n<script>`[x](y)\u{202e}\u{2066}".to_owned();
    r.machine.kernel = "6|\u{7}".to_owned();
    r.tool.commit = Some("a|b\ncd".to_owned());
    let usual = markdown::limits(&of_rows(&[("spinlock", "cyclewise", 6.0)]));
    let shown = markdown::limits(&on_machines(vec![r]));
    assert_eq!(shown.lines().count(), usual.lines().count(), "{shown}");
    assert_eq!(shown.matches('|').count(), usual.matches('|').count());
    assert!(
        !shown.contains(['\u{1b}', '\u{7}', '<', '[', ']', '\u{202e}', '\u{2066}']),
        "{shown}"
    );
}

#[test]
fn the_newest_record_with_a_limit_counts_and_figures_are_never_of_two() {
    let old = made_up(
        "2026-01-01",
        &[("spinlock", "cyclewise", 6.0), ("width", "cmpxchg32-mov32", 4.0)],
    );
    let new = made_up(
        "2026-01-02",
        &[
            ("spinlock", "cyclewise", 5.0),
            ("width", "cmpxchg64-mov64", 5.0),
            ("width", "cmpxchg32-mov32", 8.0),
        ],
    );
    let newest = made_up("2026-01-03", &[("spinlock", "cyclewise", 7.0)]);
    let limits = on_machines(vec![newest, new, old]);
    assert_eq!(limits.machines.len(), 1);
    let lock = of_one(&limits, FREE_LOCK);
    assert_eq!(lock.ours.as_ref().unwrap().value, Ok(5.0));
    assert_eq!(lock.limit.as_ref().unwrap().row, "cmpxchg64-mov64", "the fastest");
    let ratio = lock.to_limit.as_ref().unwrap();
    assert!(ratio.value == 1.0 && !ratio.paired);
}

#[test]
fn a_lock_beside_its_limit_counts_before_one_of_another_experiment() {
    let rows = [
        ("spinlock", "cyclewise", 6.0),
        ("spinlock", "spin", 4.0),
        ("width", "cyclewise", 5.0),
        ("width", "spin", 10.0),
        ("width", "cmpxchg32-mov32", 5.0),
    ];
    let limits = of_rows(&rows);
    let lock = of_one(&limits, FREE_LOCK);
    assert_eq!(lock.ours.as_ref().unwrap().value, Ok(5.0));
    assert!(lock.to_limit.as_ref().unwrap().paired && lock.to_peer.as_ref().unwrap().value == 0.5);
}

#[test]
fn a_limit_of_two_operations_is_twice_the_row_beside_ours() {
    let rows = [
        ("percpu-lists", "free-list", 6.0),
        ("percpu-lists", "rseq-add", 2.0),
        ("percpu", "rseq-add-64", 1.0),
    ];
    let limits = of_rows(&rows);
    let list = of_one(&limits, LIST);
    assert_eq!(
        list.limit.as_ref().unwrap().value,
        Ok(4.0),
        "paired rows go before faster ones"
    );
    assert_eq!(list.to_limit.as_ref().unwrap().value, 1.5);
    // A row of another kind of loop does not stand for it.
    let limits = of_rows(&[rows[0], rows[2]]);
    assert_eq!(of_one(&limits, LIST).limit, None);
}

#[test]
fn a_limit_that_is_not_linear_is_told_and_not_replaced() {
    let rows = [
        ("spinlock", "cyclewise", 6.0),
        ("spinlock", "spin", 5.0),
        ("width", "cyclewise", 6.0),
        ("width", "spin", 5.0),
        ("width", "cmpxchg32-mov32", 5.0),
        ("width", "xchg32-mov32", 5.5),
    ];
    let mut r = made_up("2026-01-01", &rows);
    bend(&mut r, "width", "cmpxchg32-mov32");
    bend(&mut r, "width", "spin");
    let limits = on_machines(vec![r.clone()]);
    let lock = of_one(&limits, FREE_LOCK);
    // Another row of the experiment stands for the limit; no peer of another experiment does for the peer.
    assert_eq!(lock.limit.as_ref().unwrap().row, "xchg32-mov32");
    let peer = lock.peer.as_ref().unwrap();
    assert_eq!((peer.row.as_str(), peer.value), ("spin", Err(NoCost::NotLinear)));
    assert_eq!(lock.to_peer, None);
    bend(&mut r, "width", "xchg32-mov32");
    let limits = on_machines(vec![r]);
    let lock = of_one(&limits, FREE_LOCK);
    assert_eq!(lock.limit.as_ref().unwrap().value, Err(NoCost::NotLinear));
    let shown = markdown::limits(&limits);
    assert_says!(
        shown,
        "| `cmpxchg32-mov32` | not linear | 6.0 | — | spin not linear | — |"
    );
}

#[test]
fn a_limit_that_is_not_positive_is_skipped() {
    for none in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
        let rows = [
            ("width", "cyclewise", 6.0),
            ("width", "cmpxchg32-mov32", none),
            ("width", "xchg32-mov32", 5.0),
        ];
        let limits = of_rows(&rows);
        assert_eq!(of_one(&limits, FREE_LOCK).limit.as_ref().unwrap().value, Ok(5.0));
        let limits = of_rows(&rows[..2]);
        let lock = of_one(&limits, FREE_LOCK);
        assert_eq!(lock.limit.as_ref().unwrap().value, Err(NoCost::NotACost));
        assert_eq!(lock.to_limit, None);
    }
}

/// As on the Zen 3 of the tree, whose plain changes are dearer than locked ones.
#[test]
fn a_row_of_two_lengths_above_its_locked_one_is_no_cost() {
    let rows = [
        ("refcount", "refcount", 12.8),
        ("refcount", "plain", 17.2),
        ("refcount", "refcount-elided", 17.3),
        ("refcount", "cas-full", 15.5),
    ];
    let mut r = made_up("2026-01-01", &rows);
    let limits = on_machines(vec![r.clone()]);
    let count = of_one(&limits, "Refcount without LOCK");
    for cost in [&count.limit, &count.ours] {
        assert_eq!(cost.as_ref().unwrap().value, Err(NoCost::NotACost));
    }
    assert_eq!((&count.to_limit, &count.to_peer), (&None, &None));
    let shown = markdown::limits(&limits);
    assert_says!(shown, "| `plain` | not a cost | not a cost | — | cas-full ");
    assert_says!(shown, "slopes of two lengths, not tested for linearity");
    // The twin: a record that tests slopes says what it measured.
    r.runs.push(Run::default());
    let limits = on_machines(vec![r]);
    let count = of_one(&limits, "Refcount without LOCK");
    assert_eq!(count.limit.as_ref().unwrap().value, Ok(17.2));
    assert_lacks!(markdown::limits(&limits), "not tested");
}

#[test]
fn records_are_ordered_by_time_counted_once_and_machines_told_apart() {
    let with = |created: &str, cpus, value| {
        let mut r = made_up(created, &[("spinlock", "cyclewise", value)]);
        r.machine.cpu_id = "family 25 model 17 stepping 1".to_owned();
        r.machine.cpus = cpus;
        r
    };
    // The first is earlier, though its text is greater.
    let (early, late) = (
        with("2026-01-01T23:00:00.5Z", 2, 5.0),
        with("2026-01-01T23:00:00.500001Z", 2, 6.0),
    );
    let limits = on_machines(vec![late.clone(), early.clone(), late]);
    assert_eq!(limits.machines[0].records.len(), 2);
    assert_eq!(of_one(&limits, FREE_LOCK).ours.as_ref().unwrap().value, Ok(6.0));
    assert_eq!(limits.machines[0].name, "AMD Zen 4");
    let mut other = with("2026-01-03T00:00:00Z", 2, 7.0);
    other.machine.cpu_model = "AMD EPYC 9R14".to_owned();
    let limits = on_machines(vec![early, other.clone(), with("2026-01-04T00:00:00Z", 4, 7.0), {
        other.machine.hypervisor = Some("KVMKVMKVM".to_owned());
        other
    }]);
    let names: Vec<&str> = limits.machines.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "AMD Zen 4, AMD EPYC, 2 CPUs",
            "AMD Zen 4, AMD EPYC 9R14, 2 CPUs (1)",
            "AMD Zen 4, AMD EPYC 9R14, 2 CPUs (2)",
            "AMD Zen 4, AMD EPYC, 4 CPUs",
        ]
    );
}
