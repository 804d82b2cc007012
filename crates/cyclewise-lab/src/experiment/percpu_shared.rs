//! `percpu-shared`: pointers and histograms that all threads share, counted on each CPU, compared with what programs use instead.
//!
//! Histograms record the same 1024 values, which fall into some 300 of our cells in no order. The limit's row adds them to a word.

use super::{Definition, Options};
use crate::arch::observe;
use crate::error::Result;
use crate::record::Unit;
use crate::runner::crowd::Crowd;
use crate::runner::{Bench, Guards, Kinds, Sample, Sampler, Setup};
use cyclewise::percpu::{Arc, ArcOwner, Histogram, PerCpu, backend};
use hdrhistogram::Histogram as HdrHistogram;
use metrics_util::storage::AtomicBucket;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc as StdArc;
use std::time::Duration;

pub(super) static DEFINITION: Definition = Definition {
    name: "percpu-shared",
    question: "What do a shared pointer and a histogram that count on each CPU cost, compared with std's Arc and the histograms that programs use?",
    source: "Jeremy Fitzhardinge, \"Implement per-processor data areas for i386\", August 2006, and the kernel's percpu_ref",
    unit: Unit::TicksPerOp,
    guards: Guards::WholeMachine,
    published: &[],
    setup,
};

const COMPARE: [(&str, &str); 6] = [
    ("std-arc", "percpu-arc"),
    ("std-arc-two", "percpu-arc-two"),
    ("rseq-add", "percpu-arc histogram histogram-u64"),
    ("hdrhistogram", "histogram"),
    ("hdrhistogram-shared", "histogram"),
    ("metrics-util", "histogram"),
];

/// Every pair of a clone and a drop changes one count.
const KINDS: Kinds = Kinds::new(
    "percpu-arc std-arc",
    "rseq-add histogram histogram-u64 hdrhistogram hdrhistogram-shared metrics-util",
);

const VALUES: usize = 1024;

/// From 256 to a quarter of a million, as many in each octave.
fn values() -> Box<[u64]> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..VALUES)
        .map(|_| {
            let octave = 1 << random.random_range(8..18);
            octave + random.random_range(0..octave)
        })
        .collect()
}

/// A row whose call takes each of the values.
fn each<T: Copy + 'static>(
    bench: &mut Bench,
    name: &'static str,
    values: Box<[T]>,
    mut take: impl FnMut(T) + 'static,
) -> Box<dyn Sampler> {
    bench.calls_of(name, VALUES as u32, move || {
        observe(values.as_ptr());
        values.iter().for_each(|&value| take(value));
    })
}

fn setup(options: &Options) -> Result<Setup> {
    let cpus = options.cpus()?;
    let mut bench = Bench::new();
    let whole = values();
    let numbers: Box<[f64]> = whole.iter().map(|&value| value as f64).collect();
    let word = PerCpu::<u64>::new();
    let [histogram, of_u64] = [(); 2].map(|()| &*Box::leak(Box::new(Histogram::new())));
    // Two digits: cells of at most 1/64, where ours have at most 1/32.
    let hdr = || HdrHistogram::<u64>::new_with_bounds(1, 1 << 40, 2).expect("valid bounds");
    let (mut alone, shared) = (hdr(), hdr().into_sync());
    let mut recorder = shared.recorder();
    let bucket = AtomicBucket::new();
    let mut left = VALUES;
    let owner = ArcOwner::new(7_u64);
    let (ours, theirs) = (ArcOwner::share(&owner), StdArc::new(7_u64));
    let mut samplers = vec![
        each(&mut bench, "rseq-add", whole.clone(), move |value| word.add(value)),
        each(&mut bench, "histogram", numbers.clone(), |value| {
            histogram.record(value)
        }),
        each(&mut bench, "histogram-u64", whole.clone(), |value| {
            of_u64.record_u64(value)
        }),
        each(&mut bench, "hdrhistogram", whole.clone(), move |value| {
            alone.saturating_record(value)
        }),
        each(&mut bench, "hdrhistogram-shared", whole, move |value| {
            let _histogram = &shared;
            recorder.saturating_record(value);
        }),
        each(&mut bench, "metrics-util", numbers, move |value| {
            bucket.push(value);
            left -= 1;
            if left == 0 {
                left = VALUES;
                bucket.clear();
            }
        }),
        bench.calls("percpu-arc", move || {
            let _owner = &owner;
            observe(&raw const *ours.clone());
        }),
        bench.calls("std-arc", move || observe(&raw const *theirs.clone())),
    ];
    if let [first, second, ..] = cpus[..] {
        let crowd = Crowd {
            cpus: vec![first, second],
            threads: 2,
            pinned: true,
            span: Duration::ZERO,
        };
        let owner = ArcOwner::new(7_u64);
        let (ours, theirs) = (ArcOwner::share(&owner), StdArc::new(7_u64));
        samplers.push(Two::sampler("percpu-arc-two", &crowd, move || {
            let _owner = &owner;
            observe(&raw const *Arc::clone(&ours));
        }));
        samplers.push(Two::sampler("std-arc-two", &crowd, move || {
            observe(&raw const *StdArc::clone(&theirs));
        }));
    }
    Ok(Setup {
        notes: vec![
            format!("backend: {}", backend()),
            "histograms take 1024 values from 256 to 262144; -two: two threads, each on its own CPU, clone and drop one pointer".to_owned(),
        ],
        ..super::by_name(samplers, &COMPARE, "std-arc", KINDS)
    })
}

/// Pairs of one thread in a sample: some milliseconds, so that the start is negligible.
const PAIRS: u32 = 100_000;

/// Two threads that do the same.
struct Two<P> {
    name: &'static str,
    crowd: Crowd,
    pair: P,
}

impl<P: Fn() + Sync + 'static> Two<P> {
    fn sampler(name: &'static str, crowd: &Crowd, pair: P) -> Box<dyn Sampler> {
        Box::new(Self {
            name,
            crowd: crowd.clone(),
            pair,
        })
    }
}

impl<P: Fn() + Sync> Sampler for Two<P> {
    fn name(&self) -> &str {
        self.name
    }

    /// Ticks of a pair, averaged over the threads.
    fn sample(&mut self) -> Result<Sample> {
        let pair = &self.pair;
        let run = self.crowd.run(self.name, |_, _| (0..PAIRS).for_each(|_| pair()))?;
        let pairs = self.crowd.threads as f64 * f64::from(PAIRS);
        Ok(Sample::new(run.own_ticks().sum::<u64>() as f64 / pairs))
    }
}
