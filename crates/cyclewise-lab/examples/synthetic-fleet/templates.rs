//! The records of the tree that the fleet is made from, without their samples.

use cyclewise_lab::record::{self, Batches, Experiment, Record};
use std::path::Path;

/// A record of one CPU model.
pub(crate) struct Template(pub(crate) Record);

/// One record for each CPU model of the tree that has most experiments: Genoa, Turin, Emerald Rapids, Milan.
const FILES: [&str; 4] = [
    "records/2026-11-21-epyc-genoa-kvm.json",
    "records/2026-11-23-epyc-turin-kvm.json.gz",
    "records/2026-11-22-xeon-emerald-rapids-kvm.json.gz",
    "crates/cyclewise-bench/src/stats/tests/data/zen3-noisy.json.gz",
];

/// Reads the templates.
pub(crate) fn load() -> Vec<Template> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let read = |file: &str| record::load(&root.join(file)).unwrap_or_else(|e| panic!("{e}"));
    FILES.map(|file| Template(stripped(read(file)))).into()
}

impl Template {
    /// Whether there is such a row.
    pub(crate) fn has(&self, experiment: &str, variant: &str) -> bool {
        let mut rows = self
            .0
            .experiments
            .iter()
            .filter(|e| e.name == experiment)
            .flat_map(|e| &e.variants);
        rows.any(|v| v.name == variant)
    }
}

/// Without what follows from samples, and would contradict those that are made up.
fn stripped(mut record: Record) -> Record {
    record.experiments.retain(|e| !e.variants.is_empty());
    record.runs.clear();
    record.missing.clear();
    record.experiments.iter_mut().for_each(strip);
    record
}

fn strip(e: &mut Experiment) {
    e.control = None;
    e.probe = None;
    e.comparisons.clear();
    for v in &mut e.variants {
        // What the row is worth here is the center of its group.
        v.median = v.figure().median;
        v.samples.clear();
        v.metrics.clear();
        v.states.clear();
        v.sample_states.clear();
        v.rejected_rounds.clear();
        v.rejected_samples.clear();
        v.rejected_by.clear();
        v.rejected = 0;
        v.stolen.clear();
        v.headline = None;
        v.between = None;
        v.cycles = None;
        if let Some(Batches { ticks, .. }) = &mut v.batches {
            ticks.iter_mut().for_each(Vec::clear);
        }
    }
}
