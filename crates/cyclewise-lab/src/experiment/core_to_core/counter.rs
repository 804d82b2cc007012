//! One counter that all threads increment: by one instruction, and by a compare-and-exchange loop.

use crate::error::{Error, Result};
use crate::runner::crowd::{Crowd, repeat};
use crate::runner::{Sample, Sampler, metrics};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Alone in its cache lines; neighbours are fetched in pairs.
#[repr(align(128))]
struct Counter(AtomicU64);

thread_local! {
    static RETRIES: Cell<u64> = const { Cell::new(0) };
}

/// Adds one. Relaxed: only a counter; it is read after the threads are joined.
#[inline(always)]
fn by_instruction(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Adds one by a compare-and-exchange loop, which retries with the value that a failed exchange returned.
#[inline(always)]
fn by_loop(counter: &AtomicU64) {
    let mut seen = counter.load(Relaxed);
    while let Err(now) = counter.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
        seen = now;
        RETRIES.set(RETRIES.get() + 1);
    }
}

/// Adds one by a load-exclusive and a store-exclusive, which are repeated until the store is done.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn by_exclusives(counter: &AtomicU64) {
    let failed = crate::arch::exclusive::add(counter);
    RETRIES.set(RETRIES.get() + failed);
}

#[cfg(target_arch = "aarch64")]
pub(super) fn exclusives(name: String, crowd: &Crowd) -> Box<dyn Sampler> {
    row(name, crowd, by_exclusives)
}

/// A row of `fetch_add`.
pub(super) fn add(name: String, crowd: &Crowd) -> Box<dyn Sampler> {
    row(name, crowd, by_instruction)
}

/// A row of compare-and-exchange.
pub(super) fn cas(name: String, crowd: &Crowd) -> Box<dyn Sampler> {
    row(name, crowd, by_loop)
}

pub(super) fn row(name: String, crowd: &Crowd, add: impl Fn(&AtomicU64) + Sync + 'static) -> Box<dyn Sampler> {
    Box::new(CounterRow {
        name,
        crowd: crowd.clone(),
        add,
    })
}

struct CounterRow<F> {
    name: String,
    crowd: Crowd,
    add: F,
}

impl<F: Fn(&AtomicU64) + Sync> Sampler for CounterRow<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let counter = Box::new(Counter(AtomicU64::new(0)));
        let (word, add) = (&counter.0, &self.add);
        let name: &str = &self.name;
        let run = self
            .crowd
            .run(name, |_, stop| (repeat(stop, || add(word)), RETRIES.take()))?;
        let additions: u64 = run.results().map(|(n, _)| n).sum();
        let retries: u64 = run.results().map(|(_, retries)| retries).sum();
        let counted: u64 = word.load(Relaxed);
        if counted != additions {
            return Err(Error::check(format!(
                "{name}: {additions} additions were made, but the counter is {counted}; updates were lost"
            )));
        }
        let additions = additions as f64;
        Ok(Sample {
            value: 1e9 * run.seconds() / additions,
            metrics: metrics([("retries", "1", retries as f64 / additions)]),
            ..Sample::default()
        })
    }
}
