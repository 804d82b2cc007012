//! metrics: what a recorder and its counters promise, checked through the macros, for ours and for counters that are broken.

use cyclewise::percpu::metrics::Recorder;
use metrics::{Counter, CounterFn, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, SharedString, Unit};
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram, with_local_recorder};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

/// What an exporter is to a recorder before it: it keeps what it is told.
#[derive(Default)]
struct Exporter {
    calls: Mutex<Vec<String>>,
    values: Mutex<HashMap<Key, Arc<AtomicU64>>>,
}

impl Exporter {
    fn say(&self, call: String) {
        self.calls.lock().unwrap().push(call);
    }

    fn value(&self, key: &Key) -> Arc<AtomicU64> {
        Arc::clone(self.values.lock().unwrap().entry(key.clone()).or_default())
    }
}

impl metrics::Recorder for Exporter {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.say(format!("counter {} {unit:?} {description}", key.as_str()));
    }
    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.say(format!("gauge {} {unit:?} {description}", key.as_str()));
    }
    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.say(format!("histogram {} {unit:?} {description}", key.as_str()));
    }
    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.say(format!("register {} {:?}", key.name(), metadata.level()));
        Counter::from_arc(self.value(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.value(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.say(format!("histogram of {}", key.name()));
        Histogram::noop()
    }
}

fn sum_of(recorder: &Recorder<Exporter>, key: &Key) -> Option<u64> {
    let mut found = recorder.counters().into_iter().filter(|(other, _)| other == key);
    let sum = found.next()?.1;
    assert!(found.next().is_none(), "a key has one counter");
    Some(sum)
}

#[test]
fn a_counter_is_there_from_its_registration_with_zero() {
    let recorder = Recorder::new(Exporter::default());
    with_local_recorder(&recorder, || drop(counter!("hits")));
    assert_eq!(sum_of(&recorder, &Key::from_name("hits")), Some(0));
    assert_eq!(sum_of(&recorder, &Key::from_name("misses")), None);
}

#[test]
fn names_and_labels_make_a_key() {
    let recorder = Recorder::new(Exporter::default());
    with_local_recorder(&recorder, || {
        for _ in 0..3 {
            counter!("hits").increment(1);
        }
        counter!("hits", "kind" => "a").increment(10);
        counter!("hits", "kind" => "b").increment(100);
        counter!("hits", "kind" => String::from("a")).increment(10);
    });
    let labelled = |kind| Key::from_parts("hits", vec![Label::new("kind", kind)]);
    assert_eq!(sum_of(&recorder, &Key::from_name("hits")), Some(3));
    assert_eq!(sum_of(&recorder, &labelled("a")), Some(20));
    assert_eq!(sum_of(&recorder, &labelled("b")), Some(100));
    assert_eq!(recorder.counters().len(), 3);
}

/// What `CounterFn` asks, one thread after the other and several at once; the first promise that is broken.
fn check(counter: &Counter, sum: impl Fn() -> u64) -> Result<(), &'static str> {
    let is = |expected, promise| if sum() == expected { Ok(()) } else { Err(promise) };
    counter.increment(3);
    counter.increment(0);
    is(3, "additions add up")?;
    counter.absolute(10);
    is(10, "absolute raises")?;
    counter.absolute(7);
    is(10, "absolute never lowers")?;
    let start = Barrier::new(2);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                start.wait();
                counter.absolute(1000);
            });
        }
    });
    is(1000, "two that set the same value set it once")?;
    let handles: Vec<Counter> = (0..3).map(|_| counter.clone()).collect();
    std::thread::scope(|scope| {
        for handle in handles {
            scope.spawn(move || (0..10_000).for_each(|_| handle.increment(2)));
        }
    });
    is(61_000, "no addition of a thread is lost")?;
    counter.absolute(u64::MAX);
    is(u64::MAX, "absolute takes any number")
}

#[test]
fn our_counters_keep_it() {
    for _ in 0..50 {
        let recorder = Recorder::new(Exporter::default());
        let counter = with_local_recorder(&recorder, || counter!("checked"));
        assert_eq!(check(&counter, || recorder.counters()[0].1), Ok(()));
    }
    let std = Arc::new(AtomicU64::new(0));
    assert_eq!(
        check(&Counter::from_arc(Arc::clone(&std)), || std.load(Ordering::Relaxed)),
        Ok(())
    );
}

/// A counter whose `absolute` is wrong in one way.
struct Broken {
    word: AtomicU64,
    absolute: fn(&Self, u64),
    /// Where two threads that raise it to 1000 wait for each other, after both have found what is missing.
    both: Barrier,
}

impl CounterFn for Broken {
    fn increment(&self, value: u64) {
        self.word.fetch_add(value, Ordering::Relaxed);
    }
    fn absolute(&self, value: u64) {
        (self.absolute)(self, value);
    }
}

/// The twins: one that stores, and one that adds what is missing without a lock.
#[test]
fn broken_counters_are_caught() {
    let check = |absolute| {
        let counter = Arc::new(Broken {
            word: AtomicU64::new(0),
            absolute,
            both: Barrier::new(2),
        });
        check(&Counter::from_arc(Arc::clone(&counter)), || {
            counter.word.load(Ordering::Relaxed)
        })
    };
    let stores = |counter: &Broken, value| counter.word.store(value, Ordering::Relaxed);
    assert_eq!(check(stores), Err("absolute never lowers"));
    let adds = |counter: &Broken, value: u64| {
        let missing = value.saturating_sub(counter.word.load(Ordering::Relaxed));
        if value == 1000 {
            counter.both.wait();
        }
        counter.increment(missing);
    };
    assert_eq!(check(adds), Err("two that set the same value set it once"));
}

#[test]
fn everything_else_is_handed_on() {
    let recorder = Recorder::new(Exporter::default());
    with_local_recorder(&recorder, || {
        describe_counter!("hits", Unit::Count, "how many");
        describe_gauge!("heat", "how hot");
        describe_histogram!("time", Unit::Seconds, "how long");
        counter!(level: Level::DEBUG, "hits").increment(5);
        gauge!("heat").set(36.6);
        gauge!("heat").increment(0.4);
        histogram!("time").record(1.0);
    });
    let calls = recorder.next().calls.lock().unwrap().join("; ");
    assert_eq!(
        calls,
        "counter hits Some(Count) how many; gauge heat None how hot; histogram time Some(Seconds) how long; \
         register hits Level(Debug); histogram of time"
    );
    let heat = f64::from_bits(recorder.next().value(&Key::from_name("heat")).load(Ordering::Relaxed));
    assert!((heat - 37.0).abs() < 1e-9);
    assert_eq!(
        recorder.next().value(&Key::from_name("hits")).load(Ordering::Relaxed),
        0,
        "not before it is published"
    );
    recorder.publish();
    assert_eq!(
        recorder.next().value(&Key::from_name("hits")).load(Ordering::Relaxed),
        5
    );
}

#[test]
fn what_is_published_never_lags_behind_or_goes_back() {
    let recorder = Recorder::new(Exporter::default());
    let counter = with_local_recorder(&recorder, || counter!("hits"));
    let exported = recorder.next().value(&Key::from_name("hits"));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut last = 0;
                for _ in 0..2000 {
                    counter.increment(1);
                    recorder.publish();
                    let now = exported.load(Ordering::Relaxed);
                    assert!(now > last);
                    last = now;
                }
            });
        }
    });
    recorder.publish();
    assert_eq!(exported.load(Ordering::Relaxed), 4000);
}

#[test]
fn threads_that_register_at_once_get_one_counter_and_handles_outlive_the_recorder() {
    for _ in 0..100 {
        let recorder = Recorder::new(Exporter::default());
        let start = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    start.wait();
                    with_local_recorder(&recorder, || counter!("raced").increment(1));
                });
            }
        });
        assert_eq!(sum_of(&recorder, &Key::from_name("raced")), Some(3));
        let handle = with_local_recorder(&recorder, || counter!("raced"));
        drop(recorder);
        handle.increment(1);
    }
}

type Call = Box<dyn Fn(u64) + Send + Sync>;

/// An exporter whose counters run code of its own, as one does that counts or logs.
#[derive(Clone)]
struct Calling {
    registered: Arc<AtomicU64>,
    call: Arc<std::sync::OnceLock<Call>>,
}

impl Calling {
    fn new() -> Self {
        Self {
            registered: Arc::default(),
            call: Arc::default(),
        }
    }

    fn calls(&self, call: impl Fn(u64) + Send + Sync + 'static) {
        assert!(self.call.set(Box::new(call)).is_ok());
    }
}

impl CounterFn for Calling {
    fn increment(&self, _: u64) {}
    fn absolute(&self, value: u64) {
        self.call.get().unwrap()(value);
    }
}

impl metrics::Recorder for Calling {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        self.registered.fetch_add(1, Ordering::Relaxed);
        Counter::from_arc(Arc::new(self.clone()))
    }
    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }
    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// Whether it ends. Where it does not, its thread is left behind.
fn ends(work: impl FnOnce() + Send + 'static) -> bool {
    ends_within(20, work)
}

fn ends_within(seconds: u64, work: impl FnOnce() + Send + 'static) -> bool {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        work();
        // Nobody listens, if it was too late.
        let _ = sender.send(());
    });
    receiver.recv_timeout(std::time::Duration::from_secs(seconds)).is_ok()
}

/// A recorder with one counter at 1, whose exporter counts, registers, reads, publishes and panics in the first publication.
#[test]
fn an_exporter_may_use_the_recorder_while_it_is_told() {
    let exporter = Calling::new();
    let recorder = Arc::new(Recorder::new(exporter.clone()));
    let hits = with_local_recorder(&*recorder, || counter!("hits"));
    hits.increment(1);
    let inside = Arc::downgrade(&recorder);
    let published = Arc::new(AtomicU64::new(0));
    let said = Arc::clone(&published);
    exporter.calls(move |value| {
        if said.fetch_max(value, Ordering::Relaxed) == 0 {
            let inside = inside.upgrade().unwrap();
            hits.increment(10);
            (0..100).for_each(|i| with_local_recorder(&*inside, || counter!(format!("new {i}")).increment(0)));
            assert_eq!(inside.counters().len(), 101);
            inside.publish();
            std::panic::resume_unwind(Box::new("of the exporter's own"));
        }
    });
    let publisher = Arc::clone(&recorder);
    let both = move || {
        let publish = std::panic::AssertUnwindSafe(|| publisher.publish());
        assert!(std::panic::catch_unwind(publish).is_err());
        publisher.publish();
    };
    assert!(ends(both), "a publication that waits for itself");
    assert_eq!(published.load(Ordering::Relaxed), 11, "the second one is no nested one");
}

/// The twin: an exporter that is called under a lock that its own code takes.
#[test]
fn a_call_that_waits_for_itself_is_caught() {
    let (lock, waited) = (Arc::new(Mutex::new(())), Arc::new(AtomicU64::new(0)));
    let said = Arc::clone(&waited);
    let held = lock.lock().unwrap();
    let inner = Arc::clone(&lock);
    assert!(!ends_within(1, move || {
        drop(inner.lock().unwrap());
        said.store(1, Ordering::Relaxed);
    }));
    assert_eq!(waited.load(Ordering::Relaxed), 0);
    drop(held);
}

/// So that an exporter's timeout for idle counters comes, and its counter is found again after it was dropped.
#[test]
fn sums_that_have_not_changed_are_not_published() {
    let exporter = Calling::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let telling = Arc::clone(&told);
    exporter.calls(move |value| telling.lock().unwrap().push(value));
    let recorder = Recorder::new(exporter.clone());
    let hits = with_local_recorder(&recorder, || counter!("hits"));
    let registered = || exporter.registered.load(Ordering::Relaxed);
    recorder.publish();
    assert!(told.lock().unwrap().is_empty(), "nothing was counted");
    for count in [2, 3] {
        hits.increment(count);
        recorder.publish();
    }
    assert_eq!(
        (told.lock().unwrap().clone(), registered()),
        (vec![2, 5], 2),
        "idle at first"
    );
    recorder.publish();
    recorder.publish();
    assert_eq!((told.lock().unwrap().clone(), registered()), (vec![2, 5], 2));
    hits.increment(1);
    recorder.publish();
    assert_eq!((told.lock().unwrap().clone(), registered()), (vec![2, 5, 6], 3));
}

#[test]
fn many_keys_are_kept_apart() {
    let recorder = Recorder::new(Exporter::default());
    with_local_recorder(&recorder, || {
        for turn in 1..=2 {
            (0..1000).for_each(|i| counter!("many", "i" => i.to_string()).increment(turn * i));
        }
    });
    let counters = recorder.counters();
    assert_eq!(counters.len(), 1000);
    for (key, sum) in counters {
        let i: u64 = key.labels().next().unwrap().value().parse().unwrap();
        assert_eq!(sum, 3 * i);
    }
}
