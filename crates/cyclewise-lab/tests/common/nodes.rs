//! Records of nodes that differ in their speed. Tests of two packages include this file by its path.

use cyclewise_bench::record::{self, Record};
use std::sync::LazyLock;

/// A record with rows that `fleet` knows.
const RECORD: &str = include_str!("../../../../records/2026-11-21-epyc-genoa-kvm-percpu.json");

/// The record of one node: every figure of `percpu` multiplied by `factor`.
pub(crate) fn node(n: usize, factor: f64) -> String {
    static PERCPU: LazyLock<Record> = LazyLock::new(|| {
        let mut record = record::from_str("r", RECORD).unwrap();
        record.experiments.retain(|e| e.name == "percpu");
        record
    });
    let mut record = PERCPU.clone();
    record.machine.identity.node = Some(format!("node-{n:02}"));
    record.created = format!("2026-11-23T10:{n:02}:00Z");
    // Less than a per cent, and the same each time.
    let factor = factor * (1.0 + 0.002 * ((n * 37 % 11) as f64 - 5.0) / 5.0);
    for v in record.experiments.iter_mut().flat_map(|e| &mut e.variants) {
        v.samples.truncate(40);
        v.sample_states.clear();
        v.n = v.samples.len();
        v.samples.iter_mut().for_each(|s| *s *= factor);
        v.median *= factor;
        v.mean *= factor;
        if let Some(headline) = &mut v.headline {
            headline.median *= factor;
            headline.ci95 = headline.ci95.map(|bound| bound.map(|b| b * factor));
        }
        v.between = None;
    }
    record.runs.clear();
    serde_json::to_string(&record).unwrap()
}
