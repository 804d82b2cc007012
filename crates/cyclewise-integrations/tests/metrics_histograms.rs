//! The recorder's histograms, by the macros: an exporter gets each value once, when it is published or at once.

use cyclewise::percpu::histogram::Snapshot;
use cyclewise::percpu::metrics::Recorder;
use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, SharedString, Unit, histogram, with_local_recorder,
};
use std::sync::{Arc, Mutex};

/// What an exporter was given: values, and how many of each.
#[derive(Clone, Default)]
struct Values(Arc<Mutex<Vec<(f64, usize)>>>);

impl HistogramFn for Values {
    fn record(&self, value: f64) {
        self.record_many(value, 1);
    }
    fn record_many(&self, value: f64, count: usize) {
        self.0.lock().unwrap().push((value, count));
    }
}

#[derive(Default)]
struct Exporter {
    values: Values,
    registered: Mutex<usize>,
}

impl metrics::Recorder for Exporter {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        *self.registered.lock().unwrap() += 1;
        Histogram::from_arc(Arc::new(self.values.clone()))
    }
}

fn given(recorder: &Recorder<Exporter>) -> Vec<(f64, usize)> {
    recorder.next().values.0.lock().unwrap().clone()
}

#[test]
fn values_are_published_by_their_cells() {
    let recorder = Recorder::new(Exporter::default());
    let time = with_local_recorder(&recorder, || histogram!("time"));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..25).for_each(|_| time.record(1.5)));
        }
    });
    assert_eq!(given(&recorder), [], "nothing was published");
    recorder.publish();
    assert_eq!(given(&recorder), [(1.484375, 100)]);
    let [(key, taken)] = &recorder.histograms()[..] else {
        panic!("one histogram");
    };
    assert_eq!((key.name(), taken.count()), ("time", 100));
    // Nothing new: the exporter may drop it as idle, so it is registered again with the next value.
    recorder.publish();
    assert_eq!(
        (given(&recorder).len(), *recorder.next().registered.lock().unwrap()),
        (1, 1)
    );
    with_local_recorder(&recorder, || histogram!("time").record(3.0));
    recorder.publish();
    assert_eq!(given(&recorder)[1..], [(2.96875, 1)]);
    assert_eq!(*recorder.next().registered.lock().unwrap(), 2);
}

#[test]
fn values_outside_of_the_cells_are_handed_on_at_once() {
    let recorder = Recorder::new(Exporter::default());
    with_local_recorder(&recorder, || {
        for value in [0.0, -1.0, 1e-30, 1e30, f64::INFINITY] {
            histogram!("odd").record(value);
        }
    });
    let expected = [0.0, -1.0, 1e-30, 1e30, f64::INFINITY].map(|value| (value, 1));
    assert_eq!(given(&recorder), expected);
    recorder.publish();
    assert_eq!((given(&recorder).len(), recorder.histograms()[0].1.count()), (5, 0));
}

/// How many values an exporter has after four publications of ten values each.
fn after_publications(publish: impl Fn(&Recorder<Exporter>)) -> usize {
    let recorder = Recorder::new(Exporter::default());
    let sizes = with_local_recorder(&recorder, || histogram!("sizes"));
    for _ in 0..4 {
        (1..=10).for_each(|n| sizes.record(f64::from(n)));
        publish(&recorder);
    }
    given(&recorder).iter().map(|(_, count)| count).sum()
}

#[test]
fn a_value_is_given_once() {
    assert_eq!(after_publications(Recorder::publish), 40);
}

/// The twin gives all counts each time, as a counter's sum is given.
#[test]
fn the_twin_that_gives_all_counts_again_is_caught() {
    let all = |recorder: &Recorder<Exporter>| {
        let taken: Vec<Snapshot> = recorder.histograms().into_iter().map(|(_, taken)| taken).collect();
        let buckets = taken.iter().flat_map(Snapshot::buckets);
        buckets.for_each(|bucket| {
            recorder
                .next()
                .values
                .record_many(bucket.middle(), bucket.count as usize)
        });
    };
    assert_eq!(after_publications(all), 100);
}
