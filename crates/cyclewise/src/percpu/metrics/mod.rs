//! A recorder for the crate metrics whose counters and histograms are per-CPU. Feature `metrics`.
//!
//! A counter of an exporter is one word that all threads change by a locked instruction, and its cache line moves from CPU to CPU; a
//! histogram is a list that all threads push to. [`Recorder`] stands before an exporter's recorder: it counts on the current CPU, and hands gauges
//! and descriptions on. [`Recorder::publish`] gives sums and counts to the exporter, before it is asked for its text.
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
//! An addition is that of a [`PerCpu`](super::PerCpu), behind a virtual call, for whoever keeps the handle that `counter!` returns. Keep
//! it: the macro itself looks the key up at every use, under a lock of one in 32 keys. That takes longer than any addition, and threads that do so contend for the lock's word.
//!
//! A histogram's value is an addition to the CPU's word of its [cell](super::histogram), and the exporter gets the cell's middle, at most 1.6 % from it. Values
//! outside of the cells (zero and negative ones too) go to the exporter at once, as they are. A histogram takes 24 KiB on each CPU, of pages that are used.
//!
//! # Invariants
//! 1. A key has one counter, as long as the recorder exists. Keys are equal where metrics has them equal.
//! 2. No lock of the table is held while another's code runs.
//! 3. A sum contains every addition that happened before; it never decreases but by overflow.

mod counter;
mod histogram;
mod table;

use super::histogram::Snapshot;
use core::fmt;
use histogram::RegisteredHistogram;
use metrics::{Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::vec::Vec;
use table::{Keyed, Registered, Table};

/// A recorder with per-CPU counters and histograms before another one.
pub struct Recorder<R> {
    next: R,
    counters: Table<Registered>,
    histograms: Table<RegisteredHistogram>,
    /// Held while sums are handed on: two that do so at once would hand them on in different orders.
    publishing: Mutex<()>,
    /// Who holds it.
    publisher: Mutex<Option<ThreadId>>,
}

impl<R: metrics::Recorder> Recorder<R> {
    /// A recorder before `next`, which gets everything but counts and values, and those from [`publish`](Self::publish).
    #[must_use]
    pub fn new(next: R) -> Self {
        Self {
            next,
            counters: Table::new(),
            histograms: Table::new(),
            publishing: Mutex::new(()),
            publisher: Mutex::new(None),
        }
    }

    /// The recorder behind this one.
    pub fn next(&self) -> &R {
        &self.next
    }

    /// Sets the next recorder's counters to the sums (`Counter::absolute`), and gives its histograms the values that were recorded since the last time
    /// (`Histogram::record_many`). Call it before an exporter renders, or periodically where it pushes.
    ///
    /// A counter or a histogram that has not changed is left alone, so an exporter may drop it as idle. When it changes again, it is registered
    /// again; a counter goes on from its sum.
    ///
    /// The exporter's code may count, register counters and read [`counters`](Self::counters) meanwhile. If it publishes, in the same
    /// thread, that does nothing: the publication is under way.
    pub fn publish(&self) {
        let current = std::thread::current().id();
        if *locked(&self.publisher) == Some(current) {
            return;
        }
        let _in_order = locked(&self.publishing);
        *locked(&self.publisher) = Some(current);
        let _ended = Ended(&self.publisher);
        for registered in self.counters.all() {
            registered.publish(&self.next);
        }
        for registered in self.histograms.all() {
            registered.publish(&self.next);
        }
    }

    /// Every counter's key and sum, in no order.
    pub fn counters(&self) -> Vec<(Key, u64)> {
        let all = self.counters.all();
        let sums = all
            .iter()
            .map(|registered| (registered.key.clone(), registered.counter.sum()));
        sums.collect()
    }

    /// Every histogram's key and counts, in no order. Values outside of the cells are not in them.
    pub fn histograms(&self) -> Vec<(Key, Snapshot)> {
        let all = self.histograms.all();
        let taken = all
            .iter()
            .map(|registered| (registered.key().clone(), registered.snapshot()));
        taken.collect()
    }

    fn counter(&self, key: &Key, metadata: &Metadata<'_>) -> Arc<Registered> {
        self.counters.find(key).unwrap_or_else(|| {
            // Outside of the lock: it is another's code.
            let next = self.next.register_counter(key, metadata);
            self.counters.add(Registered::new(key, metadata, next))
        })
    }

    fn histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Arc<RegisteredHistogram> {
        self.histograms.find(key).unwrap_or_else(|| {
            // Outside of the lock: it is another's code.
            let next = self.next.register_histogram(key, metadata);
            self.histograms.add(RegisteredHistogram::new(key, metadata, next))
        })
    }
}

/// Ends a publication, also where the exporter panics.
struct Ended<'a>(&'a Mutex<Option<ThreadId>>);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        *locked(self.0) = None;
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
        metrics::Counter::from_arc(Arc::clone(&self.counter(key, metadata).counter))
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.next.register_gauge(key, metadata)
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.histogram(key, metadata))
    }
}

impl<R> fmt::Debug for Recorder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("counters", &self.counters.all().len())
            .field("histograms", &self.histograms.all().len())
            .finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
