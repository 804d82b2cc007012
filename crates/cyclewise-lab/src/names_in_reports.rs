//! The names by which reports know variants are names that experiments have: a misspelt one would be a gap on every machine.

use crate::experiment::{ALL, Definition, Options, spinlock};
use crate::record::{self, Record};
use cyclewise_report::fleet::HEADLINES;
use cyclewise_report::{answer, limits};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

/// The newest record of a whole run, and those of younger rows: together they have every experiment but those of ring 0, which no CPU has run yet.
pub(crate) fn newest_records() -> &'static [Record] {
    static RECORDS: LazyLock<[Record; 4]> = LazyLock::new(|| {
        [
            "23-epyc-turin-kvm",
            "23-epyc-turin-kvm-percpu",
            "28-epyc-turin-kvm-percpu-shared",
            "28-epyc-turin-kvm-read-sides",
        ]
        .map(|name| {
            let path = format!("{}/../../records/2026-11-{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
            record::load(Path::new(&path)).unwrap()
        })
    });
    &*RECORDS
}

/// What an experiment names on this machine.
pub(crate) struct Names {
    pub(crate) definition: &'static Definition,
    pub(crate) rows: Vec<String>,
    pub(crate) missing: Vec<String>,
    pub(crate) kinds: Vec<&'static str>,
    pub(crate) notes: Vec<String>,
    /// Whether it compares rows, or has no two.
    pub(crate) compares: bool,
    /// Rows by name, each with its reference.
    compared: Vec<(String, String)>,
}

/// Those of each experiment that this machine has, each set up once for all tests: that takes seconds.
pub(crate) fn names() -> &'static [Names] {
    static NAMES: LazyLock<Vec<Names>> = LazyLock::new(|| {
        let set_up = |definition: &'static Definition| {
            let options = Options::default();
            let setup = match definition.name {
                // The names of its rows do not depend on how long its crowds run: seconds.
                "spinlock" => spinlock::with_span(&options, Duration::from_micros(200)),
                _ => (definition.setup)(&options),
            };
            let setup = setup.ok()?;
            let is_matrix = matches!(setup.shape, crate::runner::Shape::Matrix(_));
            let name = |row: usize| setup.samplers[row].name().to_owned();
            Some(Names {
                compared: setup.compare.iter().map(|&(a, b)| (name(a), name(b))).collect(),
                definition,
                rows: setup.samplers.iter().map(|s| s.name().to_owned()).collect(),
                missing: setup.missing.into_iter().map(|m| m.name).collect(),
                kinds: setup.kinds.names().collect(),
                notes: setup.notes,
                // A machine of one CPU has one row of open-read-close.
                compares: setup.samplers.len() == 1 || is_matrix || !setup.compare.is_empty(),
            })
        };
        ALL.iter().copied().filter_map(set_up).collect()
    });
    &NAMES
}

#[test]
fn every_experiment_has_a_headline_that_it_measures() {
    let names: Vec<&str> = ALL
        .iter()
        .map(|d| d.name)
        .filter(|name| *name != "in-context")
        .collect();
    let listed: Vec<&str> = HEADLINES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed);
    let records = newest_records();
    for (name, answers) in HEADLINES {
        if name.ends_with("-ring0") {
            assert!(answers.iter().all(|answer| is_a_row_of_ring_0(answer)), "{name}");
            continue;
        }
        let mut experiments = records.iter().flat_map(|record| &record.experiments);
        let e = experiments.find(|e| e.name == *name).unwrap();
        for answer in *answers {
            assert!(
                e.variants.iter().any(|v| v.name == *answer && v.n > 0),
                "{name} {answer}"
            );
        }
    }
}

#[cfg(ring0)]
fn is_a_row_of_ring_0(row: &str) -> bool {
    use cyclewise_guest::semantics::Family;
    Family::ALL
        .into_iter()
        .flat_map(Family::payloads)
        .any(|p| p.name == row)
}

/// There is no guest, so there are no rows to look at.
#[cfg(not(ring0))]
fn is_a_row_of_ring_0(_: &str) -> bool {
    true
}

/// Rows of the other architecture begin so.
const ELSEWHERE: &[&str] = match cfg!(target_arch = "x86_64") {
    true => &["cas", "swp", "ldset", "ldadd", "exclusive", "isb-cntvct", "cntvct"],
    false => &[
        "cmpxchg",
        "xchg",
        "bts",
        "or",
        "xadd",
        "lfence-rdtsc",
        "rdtscp",
        "rdtsc",
    ],
};

/// Whether a row is neither in its experiment nor one of the other architecture.
fn is_unknown(row: limits::Row, known: &BTreeSet<String>) -> bool {
    let is_elsewhere = matches!(row.experiment, "width" | "clock")
        && ELSEWHERE.iter().any(|start| {
            let rest = row.variant.strip_prefix(start);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit()))
        });
    !known.contains(row.variant) && !is_elsewhere
}

/// A row whose name is misspelt would be a dash on every machine.
#[test]
fn every_row_is_one_of_its_experiment() {
    if !cfg!(target_arch = "x86_64") {
        println!("skipped: most experiments have fewer rows on this architecture; the test knows those of x86-64");
        return;
    }
    let rows = limits::PRIMITIVES
        .iter()
        .flat_map(|p| p.limit.iter().chain(p.ours).chain(p.peers).chain(&p.locked));
    let wanted: Vec<limits::Row> = rows.copied().collect();
    let experiments: BTreeSet<&str> = wanted.iter().map(|r| r.experiment).collect();
    for name in experiments {
        let found = names().iter().find(|found| found.definition.name == name);
        let found = found.unwrap_or_else(|| panic!("{name} cannot be set up"));
        // Rows that this machine lacks are named among the missing; a peer may have been another when a record was made.
        let recorded = newest_records().iter().flat_map(|record| &record.experiments);
        let recorded = recorded.filter(|e| e.name == name).flat_map(|e| &e.variants);
        let here = found.rows.iter().chain(&found.missing);
        let known: BTreeSet<String> = here.chain(recorded.map(|v| &v.name)).cloned().collect();
        for row in wanted.iter().filter(|r| r.experiment == name) {
            assert!(!is_unknown(*row, &known), "{row:?}");
            // The twin: misspelt it is in no experiment.
            let misspelt = format!("{}x", row.variant);
            let misspelt: &'static str = Box::leak(misspelt.into_boxed_str());
            assert!(
                !known.contains(row.variant)
                    || is_unknown(
                        limits::Row {
                            experiment: name,
                            variant: misspelt
                        },
                        &known
                    ),
                "{misspelt}"
            );
        }
    }
}

/// The other way round, a faster row would be called slower in every record after these.
#[test]
fn rows_are_compared_with_the_references_that_records_have() {
    let mut known = 0;
    for found in names() {
        let name = found.definition.name;
        let recorded = newest_records().iter().flat_map(|record| &record.experiments);
        let recorded = recorded.filter(|e| e.name == name).flat_map(|e| &e.comparisons);
        let recorded: BTreeSet<(&str, &str)> = recorded.map(|c| (&*c.a, &*c.b)).collect();
        let is_inverted = |a, b| recorded.contains(&(b, a)) && !recorded.contains(&(a, b));
        for (a, b) in &found.compared {
            assert!(!is_inverted(a, b), "{name}: {b} is the reference of {a} now");
            // The twin: so it would be noticed.
            known += usize::from(is_inverted(b, a));
        }
    }
    assert!(known > 20 || !cfg!(target_arch = "x86_64"), "{known}");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn every_row_in_context_belongs_to_an_operation() {
    let matrix = cyclewise_context::Matrix::new(cyclewise_context::CacheSizes { l2: None, l3: None });
    let is_there = |row: [&'static str; 2]| matrix.operations.iter().any(|o| o.loop_row == Some(row));
    for row in answer::IN_CONTEXT {
        assert!(is_there(row), "{row:?}");
    }
    // The twin: a row of another experiment with the same loop.
    assert!(!is_there(["percpu", "lock-inc-64"]));
}

#[test]
fn the_widths_that_are_told_are_measured() {
    assert!(answer::WIDTHS.contains(&crate::arch::width::BYTE_WORD_MIXED));
}
