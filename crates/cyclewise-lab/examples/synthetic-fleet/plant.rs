//! The ten machines that are not like their group, and by how much.

use super::machine::{Machine, Settings};
use super::templates::Template;
use serde::Serialize;

/// A machine that is not like its group.
pub(crate) struct Outlier {
    /// How many standard deviations of its group its rows are away, in the logarithm.
    pub(crate) sigmas: f64,
    /// The rows.
    pub(crate) rows: &'static [(&'static str, &'static str)],
    /// Ticks that its hypervisor took.
    pub(crate) steal_ticks: u64,
}

/// Its rows are headlines of their experiments, which every template has.
pub(crate) const OUTLIERS: &[Outlier] = &[
    outlier(5.0, &[("lock-prefix", "lock-inc64")], 0),
    outlier(5.5, &[("null-syscall", "getppid")], 0),
    outlier(6.0, &[("arc", "arc-locked")], 0),
    outlier(-6.0, &[("atomics", "inc-locked")], 0),
    outlier(7.0, &[("refcount", "refcount"), ("lock-prefix", "lock-inc64")], 0),
    outlier(8.0, &[("clock", "now")], 40),
    outlier(-9.0, &[("static-key", "key-disabled")], 0),
    outlier(10.0, &[("popf", "push-popf")], 0),
    outlier(15.0, &[("rdtsc", "lfence-rdtsc"), ("clock", "now")], 2_000),
    outlier(
        30.0,
        &[
            ("lock-prefix", "lock-inc64"),
            ("null-syscall", "getppid"),
            ("arc", "arc-locked"),
            ("atomics", "inc-locked"),
        ],
        20_000,
    ),
];

const fn outlier(sigmas: f64, rows: &'static [(&'static str, &'static str)], steal_ticks: u64) -> Outlier {
    Outlier {
        sigmas,
        rows,
        steal_ticks,
    }
}

/// The outlier that machine `n` of `machines` is.
pub(crate) fn of(n: usize, machines: usize) -> Option<&'static Outlier> {
    let place = |k: usize| (k + 1) * machines / (OUTLIERS.len() + 1);
    // A fleet of ten or fewer has none: there is no group to be unlike.
    let fits = machines > 2 * OUTLIERS.len();
    (0..OUTLIERS.len())
        .find(|&k| fits && place(k) == n)
        .map(|k| &OUTLIERS[k])
}

/// An outlier for the truth.
#[derive(Serialize)]
pub(crate) struct Planted {
    node: String,
    group: usize,
    sigmas: f64,
    /// The value over the group's.
    ratio: f64,
    rows: Vec<(&'static str, &'static str)>,
    steal_ticks: u64,
}

/// What was planted, with the rows that the machine's template has.
pub(crate) fn planted(machines: &[Machine], settings: &Settings, templates: &[Template]) -> Vec<Planted> {
    let planted = |m: &Machine| {
        let outlier = m.outlier?;
        let template = &templates[m.template()];
        let has = |(e, v): &&(&str, &str)| template.has(e, v);
        Some(Planted {
            node: m.node(),
            group: m.group,
            sigmas: outlier.sigmas,
            ratio: (outlier.sigmas * settings.sigma()).exp(),
            rows: outlier.rows.iter().filter(has).copied().collect(),
            steal_ticks: outlier.steal_ticks,
        })
    };
    machines.iter().filter_map(planted).collect()
}
