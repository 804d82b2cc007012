//! Kept runs, with twins.

use super::*;
use crate::record::Variant;

/// A record of so many processes with these groups, each a name and rows with their costs.
fn record(runs: usize, groups: &[(&str, &[(&str, f64)])]) -> Record {
    let variant = |(name, cost): &(&str, f64)| Variant {
        name: (*name).to_string(),
        n: 60,
        median: *cost,
        samples: (0..60).map(|i| cost * (1.0 + 1e-4 * f64::from(i % 7))).collect(),
        ..Variant::default()
    };
    let mut record = Record {
        schema: SCHEMA.to_string(),
        experiments: groups
            .iter()
            .map(|(name, rows)| Experiment {
                name: (*name).to_string(),
                variants: rows.iter().map(variant).collect(),
                ..Experiment::default()
            })
            .collect(),
        ..Record::default()
    };
    record.machine.tsc_hz = 1e9;
    let run = |times: f64| {
        let mut of_run = record.clone();
        let rows = of_run.experiments.iter_mut().flat_map(|e| &mut e.variants);
        rows.for_each(|v| v.median *= times);
        Run::of_record(&of_run)
    };
    record.runs = (0..runs).map(|i| run(1.0 + 1e-4 * i as f64)).collect();
    record
}

fn kept_of(record: &Record) -> Vec<Kept> {
    kept(record, &[], &Options::default())
}

fn names(kept: &[Kept]) -> Vec<String> {
    kept.iter().map(|kept| name(kept).to_string()).collect()
}

const SUM: (&str, &[(&str, f64)]) = ("sum", &[("iter", 100.0), ("loop", 200.0)]);
const SORT: (&str, &[(&str, f64)]) = ("sort", &[("stable", 50.0)]);

#[test]
fn a_group_is_kept_with_nothing_of_the_others_and_read_back() {
    let kept = kept_of(&record(3, &[SUM, SORT]));
    assert_eq!(names(&kept), ["sum", "sort"]);
    let runs = &kept[1].record.runs;
    assert!(runs.len() == 3 && runs[0].median("sum", "iter").is_none() && runs[0].median("sort", "stable").is_some());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("base.jsonl");
    assert_eq!(read(&file).unwrap().len(), 0, "there is none yet");
    let lines: Vec<String> = kept.iter().map(|kept| serde_json::to_string(kept).unwrap()).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    assert_eq!(names(&read(&file).unwrap()), ["sum", "sort"]);
    for wrong in [&lines[0][..40], "{}", &lines[0].replace(SCHEMA, "cyclewise.record/2")] {
        std::fs::write(&file, wrong).unwrap();
        assert!(read(&file).is_err(), "{wrong}");
    }
}

#[test]
fn groups_that_were_not_asked_for_stay_and_those_that_are_gone_do_not() {
    let before = kept_of(&record(1, &[SUM, SORT]));
    let filtered = Options {
        filters: vec!["sum".to_string()],
        ..Options::default()
    };
    let new = record(2, &[SUM]);
    let after = kept(&new, &before, &filtered);
    assert_eq!(
        (names(&after), after[1].record.runs.len()),
        (vec!["sort".to_string(), "sum".to_string()], 2)
    );
    assert_eq!(names(&kept(&new, &before, &Options::default())), ["sum"]);
    // Some rows of a group are no baseline for all of it.
    let one_row = record(2, &[("sum", &[("iter", 100.0)])]);
    let after = kept(&one_row, &before, &filtered);
    assert_eq!(after[0].record.experiments[0].variants.len(), 2);
}

#[test]
fn verdicts_need_three_processes_on_both_sides_and_the_same_host_and_build() {
    let slower: (&str, &[(&str, f64)]) = ("sum", &[("iter", 100.0), ("loop", 240.0)]);
    let compared = |runs: [usize; 2], change: &dyn Fn(&mut Kept)| {
        let mut old = kept_of(&record(runs[0], &[SUM])).remove(0);
        change(&mut old);
        let new = record(runs[1], &[slower]);
        group(&old, &new, &new.experiments[0])
    };
    let (table, notes) = compared([3, 5], &|_| {});
    assert_eq!(
        (table.rows[1][6].as_str(), notes.len()),
        ("slower", 0),
        "{:?}",
        table.rows
    );
    assert_eq!(table.rows[1][..5], ["loop", "200", "240", "ns", "1.20×"]);
    assert_ne!(table.rows[0][6], "slower");
    // However sure it is, a difference of a tenth of a percent is none between two runs.
    let known = record(5, &[("sum", &[("iter", 100.0)])]);
    let now = |cost| record(5, &[("sum", &[("iter", cost)])]);
    let verdict = |now: Record| group(&kept_of(&known)[0], &now, &now.experiments[0]).0.rows[0][6].clone();
    assert_eq!([verdict(now(100.1)), verdict(now(103.0))], ["same", "slower"]);
    // The twins: what takes the verdict and leaves the ratio.
    let (table, notes) = compared([2, 5], &|_| {});
    assert_eq!((table.rows[1].len(), &*table.rows[1][4]), (6, "1.20×"));
    assert!(notes[0].contains("--runs 3"), "{notes:?}");
    let (table, notes) = compared([3, 3], &|old| old.build = "debug".to_string());
    assert!(
        table.rows[1].len() == 6 && notes[0].starts_with("another build then"),
        "{notes:?}"
    );
    let (_, notes) = compared([3, 3], &|old| old.record.machine.cpu_model = "another CPU".to_string());
    assert!(
        notes[0].contains("another host") && notes[0].contains("another CPU"),
        "{notes:?}"
    );
}

#[test]
fn functions_of_one_run_are_named_and_the_others_compared() {
    let old = kept_of(&record(3, &[SUM])).remove(0);
    let new = record(3, &[("sum", &[("iter", 100.0), ("fold", 1.0)])]);
    let (table, notes) = group(&old, &new, &new.experiments[0]);
    assert_eq!((table.rows.len(), &*table.rows[0][0]), (1, "iter"));
    assert_eq!(
        notes,
        ["not compared, because new: fold", "not compared, because gone: loop"]
    );
    let mut rates = new.clone();
    rates.experiments[0].unit = Unit::OpsPerSecond;
    let (table, notes) = group(&old, &rates, &rates.experiments[0]);
    assert!(table.rows.is_empty() && notes[0].contains("another unit"), "{notes:?}");
}
