//! One counter that all threads add to: by one instruction, and by a loop of compare-and-exchange.

use crate::error::{Error, Result};
use crate::experiment::threads::Threads;
use crate::runner::{Sample, Sampler};
use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Alone in its cache lines; neighbours are fetched in pairs.
#[repr(align(128))]
struct Counter(AtomicU64);

thread_local! {
    static RETRIES: Cell<u64> = const { Cell::new(0) };
}

/// Adds one. Relaxed: a counter and nothing else; it is read after the threads are joined.
#[inline(always)]
fn by_instruction(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// Adds one, as every loop of compare-and-exchange does: what a failed one returned is tried next.
#[inline(always)]
fn by_loop(counter: &AtomicU64) {
    let mut seen = counter.load(Relaxed);
    while let Err(now) = counter.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
        seen = now;
        RETRIES.set(RETRIES.get() + 1);
    }
}

/// A row of `fetch_add`.
pub(super) fn add(name: String, threads: &Threads) -> Box<dyn Sampler> {
    row(name, threads, by_instruction)
}

/// A row of compare-and-exchange.
pub(super) fn cas(name: String, threads: &Threads) -> Box<dyn Sampler> {
    row(name, threads, by_loop)
}

pub(super) fn row(name: String, threads: &Threads, add: impl Fn(&AtomicU64) + Sync + 'static) -> Box<dyn Sampler> {
    Box::new(Row {
        name,
        threads: threads.clone(),
        add,
    })
}

struct Row<F> {
    name: String,
    threads: Threads,
    add: F,
}

impl<F: Fn(&AtomicU64) + Sync> Sampler for Row<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let counter = Box::new(Counter(AtomicU64::new(0)));
        let (word, add) = (&counter.0, &self.add);
        let run = self.threads.run(|| add(word), || RETRIES.take()).map_err(|e| {
            Error::system(
                &format!("core-to-core {}: cannot run {} threads", self.name, self.threads.count),
                &e,
                "raise `ulimit -u`, and do not change the cpuset while it runs",
            )
        })?;
        let counted = word.load(Relaxed);
        if counted != run.operations {
            return Err(Error::check(format!(
                "core-to-core {}: {} additions gave {counted}; updates were lost",
                self.name, run.operations
            )));
        }
        let operations = run.operations as f64;
        Ok(Sample {
            value: 1e9 * run.seconds / operations,
            metrics: vec![("retries", "1", run.said.iter().sum::<u64>() as f64 / operations)],
        })
    }
}
