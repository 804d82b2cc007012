//! Counts a run's events, except during its warm-up.
//!
//! Programs report when an operation begins and ends, when a try fails, and how a retry loop ends. The engine reports when a line
//! moves.

use super::timing::{Picos, nanos};
use crate::outcome::{Latencies, Outcome};
use crate::workload::Length;
use hdrhistogram::Histogram;
use std::cell::{Cell, RefCell};

/// The counts of a run.
#[derive(Debug)]
pub(crate) struct Meter {
    phase: Cell<Phase>,
    length: Length,
    /// When the phase ends, if its length is a time.
    deadline: Cell<Picos>,
    started: Cell<Picos>,
    ended: Cell<Picos>,
    /// Operations of this phase.
    ops: Cell<u64>,
    /// Operations of all phases.
    all_ops: Cell<u64>,
    threads: Vec<Thread>,
    latencies: RefCell<Histogram<u64>>,
    slowest: Cell<Picos>,
    retries: Cell<u64>,
    won: Cell<u64>,
    fell_back: Cell<u64>,
    moves: Cell<u64>,
    fills: Cell<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    WarmUp,
    Measured,
    Over,
}

#[derive(Debug, Default)]
struct Thread {
    ops: Cell<u64>,
    begun: Cell<Option<Picos>>,
}

/// A histogram with three digits that grows with its values.
fn histogram() -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("3 digits are allowed");
    histogram.auto(true);
    histogram
}

fn add(cell: &Cell<u64>) {
    cell.set(cell.get() + 1);
}

impl Meter {
    pub(crate) fn new(length: Length, threads: u32) -> Self {
        let threads = (0..threads).map(|_| Thread::default()).collect();
        let meter = Self {
            phase: Cell::new(Phase::WarmUp),
            length,
            deadline: Cell::new(Picos::MAX),
            started: Cell::new(0),
            ended: Cell::new(0),
            ops: Cell::new(0),
            all_ops: Cell::new(0),
            threads,
            latencies: RefCell::new(histogram()),
            slowest: Cell::new(0),
            retries: Cell::new(0),
            won: Cell::new(0),
            fell_back: Cell::new(0),
            moves: Cell::new(0),
            fills: Cell::new(0),
        };
        match length {
            Length::Operations { warm_up: 0, .. } => meter.start(0),
            Length::Operations { .. } => {}
            Length::Nanoseconds { warm_up, .. } => meter.deadline.set(warm_up.saturating_mul(1000)),
        }
        meter
    }

    /// The engine's clock has advanced to `now`.
    #[inline]
    pub(crate) fn tick(&self, now: Picos) {
        while now >= self.deadline.get() && self.again() {
            let deadline = self.deadline.get();
            match self.phase.get() {
                Phase::WarmUp => self.start(deadline),
                Phase::Measured | Phase::Over => self.stop(deadline),
            }
        }
    }

    fn start(&self, at: Picos) {
        self.phase.set(Phase::Measured);
        self.started.set(at);
        self.ops.set(0);
        if let Length::Nanoseconds { measured, .. } = self.length {
            self.deadline.set(at.saturating_add(measured.saturating_mul(1000)));
        }
    }

    fn stop(&self, at: Picos) {
        self.phase.set(Phase::Over);
        self.ended.set(at);
        self.deadline.set(Picos::MAX);
    }

    /// Whether the run continues.
    #[inline]
    pub(crate) fn again(&self) -> bool {
        self.phase.get() != Phase::Over
    }

    pub(crate) fn all_ops(&self) -> u64 {
        self.all_ops.get()
    }

    fn is_measured(&self) -> bool {
        self.phase.get() == Phase::Measured
    }

    pub(crate) fn begin(&self, thread: u32, now: Picos) {
        self.threads[thread as usize].begun.set(Some(now));
    }

    pub(crate) fn end(&self, thread: u32, now: Picos) {
        add(&self.all_ops);
        let thread = &self.threads[thread as usize];
        let begun = thread.begun.take().unwrap_or(now);
        match self.phase.get() {
            Phase::WarmUp => {
                add(&self.ops);
                if matches!(self.length, Length::Operations { warm_up, .. } if self.ops.get() >= warm_up) {
                    self.start(now);
                }
            }
            Phase::Measured => {
                add(&self.ops);
                add(&thread.ops);
                let latency = now - begun;
                let recorded = self.latencies.borrow_mut().record(latency);
                recorded.expect("the histogram grows with what is recorded");
                self.slowest.set(self.slowest.get().max(latency));
                if matches!(self.length, Length::Operations { measured, .. } if self.ops.get() >= measured) {
                    self.stop(now);
                }
            }
            Phase::Over => {}
        }
    }

    pub(crate) fn retried(&self) {
        self.count(&self.retries);
    }

    pub(crate) fn won(&self) {
        self.count(&self.won);
    }

    pub(crate) fn fell_back(&self) {
        self.count(&self.fell_back);
    }

    /// A line or a copy moved to another core or home.
    pub(crate) fn moved(&self) {
        self.count(&self.moves);
    }

    /// A core got a line exclusively.
    pub(crate) fn filled(&self) {
        self.count(&self.fills);
    }

    fn count(&self, cell: &Cell<u64>) {
        if self.is_measured() {
            add(cell);
        }
    }

    /// The outcome. Only the first `workers` threads count.
    #[expect(clippy::cast_precision_loss, reason = "counts below 2^53 are exact")]
    pub(crate) fn outcome(&self, workers: u32, events: u64) -> Outcome {
        let ops = self.ops.get();
        let elapsed = nanos(self.ended.get().saturating_sub(self.started.get()));
        let per_op = |count: &Cell<u64>| count.get() as f64 / (ops as f64).max(1.0);
        let updates = (self.won.get() + self.fell_back.get()) as f64;
        let per_update = |count: &Cell<u64>| count.get() as f64 / updates.max(1.0);
        let counted = &self.threads[..workers as usize];
        let (sum, squares) = counted.iter().fold((0.0, 0.0), |(sum, squares), thread| {
            let ops = thread.ops.get() as f64;
            (sum + ops, squares + ops * ops)
        });
        let latencies = self.latencies.borrow();
        let quantile = |share| nanos(latencies.value_at_quantile(share));
        // Include the waits of unfinished operations.
        let waiting = counted.iter().filter_map(|thread| thread.begun.get());
        let waiting = waiting.map(|begun| self.ended.get().saturating_sub(begun)).max();
        let slowest = nanos(self.slowest.get());
        Outcome {
            threads: workers,
            ops,
            elapsed_ns: elapsed,
            ns_per_op: elapsed / (ops as f64).max(1.0),
            ops_per_s: if elapsed > 0.0 { ops as f64 * 1e9 / elapsed } else { 0.0 },
            latency: Latencies {
                p50_ns: quantile(0.5),
                p90_ns: quantile(0.9),
                p99_ns: quantile(0.99),
                p999_ns: quantile(0.999),
                max_ns: slowest,
            },
            jain: if squares > 0.0 {
                sum * sum / (f64::from(workers) * squares)
            } else {
                0.0
            },
            longest_wait_ns: slowest.max(nanos(waiting.unwrap_or(0))),
            retries_per_success: per_update(&self.retries),
            line_moves_per_op: per_op(&self.moves),
            ops_per_ownership: ops as f64 / (self.fills.get() as f64).max(1.0),
            fallback_share: per_update(&self.fell_back),
            events,
        }
    }
}
