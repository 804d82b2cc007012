//! What the macros record values with: a per-CPU histogram before the next recorder's.

use super::locked;
use super::table::{Keyed, Owned};
use crate::percpu::Histogram;
use crate::percpu::histogram::Snapshot;
use metrics::{HistogramFn, Key, Metadata};
use std::sync::Mutex;

/// A histogram of ours, and the next recorder's of the same key.
pub(super) struct RegisteredHistogram {
    key: Key,
    metadata: Owned,
    /// None where there is no memory for a copy on each CPU: then values go to the next recorder at once.
    counts: Option<Histogram>,
    exported: Mutex<Exported>,
}

struct Exported {
    next: metrics::Histogram,
    /// What it was given of our counts.
    taken: Snapshot,
    /// Whether a publication left it out since, so that the exporter may have dropped it.
    is_idle: bool,
}

impl RegisteredHistogram {
    pub(super) fn new(key: &Key, metadata: &Metadata<'_>, next: metrics::Histogram) -> Self {
        let counts = Histogram::new();
        Self {
            key: key.clone(),
            metadata: Owned::new(metadata),
            exported: Mutex::new(Exported {
                next,
                taken: counts.snapshot(),
                is_idle: false,
            }),
            counts: counts.try_allocate().is_ok().then_some(counts),
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.counts
            .as_ref()
            .map_or_else(|| Histogram::new().snapshot(), Histogram::snapshot)
    }

    /// Gives the next recorder's histogram the values that were recorded since. No lock of this histogram is held while its code runs.
    pub(super) fn publish(&self, recorder: &impl metrics::Recorder) {
        let taken = self.snapshot();
        let (since, was_idle) = {
            let mut exported = locked(&self.exported);
            let since = taken.since(&exported.taken);
            let is_idle = since.count() == 0;
            (since, core::mem::replace(&mut exported.is_idle, is_idle))
        };
        if since.count() == 0 {
            return;
        }
        if was_idle {
            let next = recorder.register_histogram(&self.key, &self.metadata.metadata());
            locked(&self.exported).next = next;
        }
        let next = locked(&self.exported).next.clone();
        locked(&self.exported).taken = taken;
        for bucket in since.buckets() {
            next.record_many(bucket.middle(), bucket.count as usize);
        }
    }
}

impl Keyed for RegisteredHistogram {
    fn key(&self) -> &Key {
        &self.key
    }
}

impl HistogramFn for RegisteredHistogram {
    #[inline]
    fn record(&self, value: f64) {
        match &self.counts {
            Some(counts) if Histogram::has_cell(value) => counts.record(value),
            _ => {
                let next = locked(&self.exported).next.clone();
                next.record(value);
            }
        }
    }
}
