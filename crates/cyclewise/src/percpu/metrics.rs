//! A recorder for the crate metrics whose counters are per-CPU. Feature `metrics`.
//!
//! A counter of an exporter is one word that all threads change by a locked instruction, and its cache line moves from CPU to CPU.
//! [`Recorder`] stands before an exporter's recorder: it counts on the current CPU, and hands gauges, histograms and descriptions on.
//! [`Recorder::publish`] gives the sums to the exporter, before it is asked for its text.
//!
//! ```
//! use cyclewise::percpu::metrics::Recorder;
//! use metrics::NoopRecorder;
//!
//! // In place of NoopRecorder: that of an exporter, as `PrometheusBuilder::build_recorder` makes it.
//! let recorder = std::sync::Arc::new(Recorder::new(NoopRecorder));
//! metrics::set_global_recorder(std::sync::Arc::clone(&recorder)).unwrap();
//!
//! let served = metrics::counter!("requests_served", "protocol" => "http");
//! std::thread::scope(|scope| {
//!     for _ in 0..2 {
//!         scope.spawn(|| served.increment(10));
//!     }
//! });
//! assert_eq!(recorder.counters()[0].1, 20);
//! recorder.publish();
//! ```
//!
//! # Cost
//! An addition is that of a [`PerCpu`], behind a virtual call, for whoever keeps the handle that `counter!` returns. The macro itself
//! looks the key up at every use, which takes longer than any addition.
//!
//! # Invariants
//! 1. A key has one counter, as long as the recorder exists. Keys are equal where metrics has them equal.
//! 2. A sum contains every addition that happened before; it never decreases but by overflow.

use super::PerCpu;
use core::fmt;
use metrics::{CounterFn, Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::vec::Vec;

/// A recorder with per-CPU counters before another one.
pub struct Recorder<R> {
    next: R,
    counters: RwLock<HashMap<Key, Registered>>,
    /// Held while sums are handed on: two that do so at once would hand them on in different orders.
    publishing: Mutex<()>,
}

/// A counter of ours, and the next recorder's of the same key.
struct Registered {
    counter: Arc<Counter>,
    next: metrics::Counter,
}

/// What the macros count with.
struct Counter {
    words: Words,
    /// Held by `absolute`: two that find the same difference would both add it.
    raising: Mutex<()>,
}

enum Words {
    PerCpu(PerCpu<u64>),
    /// Where there is no memory for a copy on each CPU.
    One(AtomicU64),
}

impl<R: metrics::Recorder> Recorder<R> {
    /// A recorder before `next`, which gets everything but the counts, and those from [`publish`](Self::publish).
    #[must_use]
    pub fn new(next: R) -> Self {
        Self {
            next,
            counters: RwLock::new(HashMap::new()),
            publishing: Mutex::new(()),
        }
    }

    /// The recorder behind this one.
    pub fn next(&self) -> &R {
        &self.next
    }

    /// Sets the next recorder's counters to the sums (`Counter::absolute`). Call it before an exporter renders, or periodically
    /// where it pushes.
    pub fn publish(&self) {
        let _in_order = locked(&self.publishing);
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        for Registered { counter, next } in counters.values() {
            next.absolute(counter.sum());
        }
    }

    /// Every counter's key and sum, in no order.
    pub fn counters(&self) -> Vec<(Key, u64)> {
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        counters
            .iter()
            .map(|(key, registered)| (key.clone(), registered.counter.sum()))
            .collect()
    }

    fn counter(&self, key: &Key, metadata: &Metadata<'_>) -> Arc<Counter> {
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(registered) = counters.get(key) {
            return Arc::clone(&registered.counter);
        }
        drop(counters);
        // Outside of the lock: it is another's code.
        let next = self.next.register_counter(key, metadata);
        let mut counters = self.counters.write().unwrap_or_else(PoisonError::into_inner);
        match counters.entry(key.clone()) {
            Entry::Occupied(registered) => Arc::clone(&registered.get().counter),
            Entry::Vacant(place) => {
                let counter = Arc::new(Counter::new());
                let registered = Registered { counter, next };
                Arc::clone(&place.insert(registered).counter)
            }
        }
    }
}

impl<R: metrics::Recorder> metrics::Recorder for Recorder<R> {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.next.describe_counter(key, unit, description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.next.describe_gauge(key, unit, description);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.next.describe_histogram(key, unit, description);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> metrics::Counter {
        metrics::Counter::from_arc(self.counter(key, metadata))
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.next.register_gauge(key, metadata)
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        self.next.register_histogram(key, metadata)
    }
}

impl<R> fmt::Debug for Recorder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counters = self.counters.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("Recorder")
            .field("counters", &counters.len())
            .finish_non_exhaustive()
    }
}

impl Counter {
    fn new() -> Self {
        Self {
            words: PerCpu::try_new().map_or_else(|_| Words::One(AtomicU64::new(0)), Words::PerCpu),
            raising: Mutex::new(()),
        }
    }

    fn sum(&self) -> u64 {
        match &self.words {
            Words::PerCpu(words) => words.sum(),
            Words::One(word) => word.load(Relaxed),
        }
    }
}

impl CounterFn for Counter {
    #[inline]
    fn increment(&self, value: u64) {
        match &self.words {
            Words::PerCpu(words) => words.add(value),
            Words::One(word) => {
                word.fetch_add(value, Relaxed);
            }
        }
    }

    /// Raises the sum to `value`, if it is below. An addition that runs at the same time counts as one after it.
    fn absolute(&self, value: u64) {
        let _alone = locked(&self.raising);
        let sum = self.sum();
        if value > sum {
            self.increment(value - sum);
        }
    }
}

fn locked(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_counts_as_well() {
        let counter = Counter {
            words: Words::One(AtomicU64::new(0)),
            raising: Mutex::new(()),
        };
        counter.increment(2);
        counter.absolute(1);
        assert_eq!(counter.sum(), 2);
        counter.absolute(5);
        counter.increment(1);
        assert_eq!(counter.sum(), 6);
    }
}
