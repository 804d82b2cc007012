//! Counts a run's events, except during its warm-up.
//!
//! Programs report when an operation begins and ends, when a try fails, and how a retry loop ends. The engine reports when a line
//! moves.

use super::stationary::{self, BATCHES};
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
    started: Cell<Picos>,
    ended: Cell<Picos>,
    /// Operations of this phase.
    ops: Cell<u64>,
    /// Operations of all phases.
    all_ops: Cell<u64>,
    /// Those before the counted ones.
    warm_up_ops: Cell<u64>,
    /// Operations of the window, if the length depends on throughput.
    window: Cell<u64>,
    /// When each batch of the window ended.
    batches: RefCell<Vec<Picos>>,
    stationary: Cell<Option<bool>>,
    /// The warm-up ends with the next operation.
    is_warm: Cell<bool>,
    /// The run ends with the next operation.
    last: Cell<bool>,
    /// When all threads have begun; no window begins earlier.
    all_begun: Cell<Picos>,
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

/// The operations of the first window, in total and per thread; the warm-up before it is half as long.
const FIRST_WINDOW: u64 = 1_000;
const FIRST_WINDOW_PER_THREAD: u64 = 16;

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
        let workers = u64::from(threads);
        let threads = (0..threads).map(|_| Thread::default()).collect();
        let meter = Self {
            phase: Cell::new(Phase::WarmUp),
            length,
            started: Cell::new(0),
            ended: Cell::new(0),
            ops: Cell::new(0),
            all_ops: Cell::new(0),
            warm_up_ops: Cell::new(0),
            window: Cell::new(FIRST_WINDOW.max(FIRST_WINDOW_PER_THREAD * workers)),
            batches: RefCell::default(),
            stationary: Cell::new(None),
            is_warm: Cell::new(false),
            last: Cell::new(false),
            all_begun: Cell::new(0),
            threads,
            latencies: RefCell::new(histogram()),
            slowest: Cell::new(0),
            retries: Cell::new(0),
            won: Cell::new(0),
            fell_back: Cell::new(0),
            moves: Cell::new(0),
            fills: Cell::new(0),
        };
        if let Length::Operations { warm_up: 0, .. } = length {
            meter.start(0);
        }
        meter
    }

    fn start(&self, at: Picos) {
        self.phase.set(Phase::Measured);
        self.started.set(at);
        self.warm_up_ops.set(self.all_ops.get());
        for count in [
            &self.ops,
            &self.slowest,
            &self.retries,
            &self.won,
            &self.fell_back,
            &self.moves,
            &self.fills,
        ] {
            count.set(0);
        }
        for thread in &self.threads {
            thread.ops.set(0);
        }
        self.latencies.borrow_mut().reset();
        self.batches.borrow_mut().clear();
    }

    fn stop(&self, at: Picos) {
        self.phase.set(Phase::Over);
        self.ended.set(at);
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
                let enough = match self.length {
                    Length::Operations { warm_up, .. } => self.ops.get() >= warm_up,
                    Length::Steady { .. } if self.is_warm.get() => true,
                    Length::Steady { .. } => self.ops.get() >= self.window.get() / 2 && now >= self.all_begun.get(),
                };
                if enough {
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
                match self.length {
                    Length::Operations { measured, .. } if self.ops.get() >= measured => self.stop(now),
                    Length::Steady { most_per_thread } => self.end_of_batch(now, most_per_thread),
                    Length::Operations { .. } => {}
                }
            }
            Phase::Over => {}
        }
    }

    /// Ends the batch, the window or the run, if it is time.
    fn end_of_batch(&self, now: Picos, most_per_thread: u64) {
        let (ops, window) = (self.ops.get(), self.window.get());
        let mut batches = self.batches.borrow_mut();
        if ops * BATCHES as u64 >= window * (batches.len() as u64 + 1) {
            batches.push(now);
        }
        if ops < window && !self.last.get() {
            return;
        }
        let starts = std::iter::once(self.started.get()).chain(batches.iter().copied());
        let series: Vec<f64> = starts.zip(batches.iter()).map(|(from, to)| nanos(to - from)).collect();
        let is_stationary = ops >= window && stationary::is_stationary(&series);
        drop(batches);
        self.stationary.set(Some(is_stationary));
        let most = most_per_thread
            .saturating_mul(self.threads.len() as u64)
            .max(FIRST_WINDOW * 64);
        if is_stationary || self.last.get() || self.all_ops.get().saturating_mul(2) > most {
            return self.stop(now);
        }
        // As long as all before it.
        self.window.set(self.all_ops.get());
        self.start(now);
    }

    /// Says when all threads have begun, or that this is not known yet.
    pub(crate) fn all_begin(&self, at: Picos) {
        self.all_begun.set(self.all_begun.get().max(at));
    }

    /// Says that threads which waited for each other have begun.
    pub(crate) fn have_begun(&self, now: Picos) {
        self.all_begun.set(now);
    }

    /// Ends the warm-up with the next operation.
    pub(crate) fn end_warm_up(&self) {
        self.is_warm.set(true);
    }

    /// Ends the run with the next operation.
    pub(crate) fn hurry(&self) {
        self.last.set(matches!(self.length, Length::Steady { .. }));
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
        let least = counted.iter().map(|thread| thread.ops.get()).min();
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
            slowest_share: least
                .filter(|_| ops >= FIRST_WINDOW_PER_THREAD * u64::from(workers))
                .map(|least| least as f64 * f64::from(workers) / sum),
            longest_wait_ns: slowest.max(nanos(waiting.unwrap_or(0))),
            retries_per_success: per_update(&self.retries),
            line_moves_per_op: per_op(&self.moves),
            ops_per_ownership: ops as f64 / (self.fills.get() as f64).max(1.0),
            fallback_share: per_update(&self.fell_back),
            events,
            warm_up_ops: self.warm_up_ops.get(),
            stationary: self.stationary.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of operations of one thread that take these times.
    fn outcome(time: impl Fn(u64) -> Picos) -> Outcome {
        let meter = Meter::new(Length::Steady { most_per_thread: 1 }, 1);
        let (mut now, mut ops) = (0, 0);
        while meter.again() {
            meter.begin(0, now);
            now += time(ops);
            ops += 1;
            meter.end(0, now);
        }
        meter.outcome(1, 0)
    }

    #[test]
    fn level_times_are_stationary_at_once() {
        let level = outcome(|_| 1000);
        assert_eq!(
            (level.stationary, level.warm_up_ops, level.ops),
            (Some(true), 500, 1000)
        );
    }

    #[test]
    fn a_transient_is_left_behind_and_not_counted() {
        let outcome = outcome(|op| 1000 + 10 * 3_000_u64.saturating_sub(op));
        assert_eq!(outcome.stationary, Some(true));
        assert!(outcome.warm_up_ops >= 3_000, "{}", outcome.warm_up_ops);
        assert!((outcome.ns_per_op - 1.0).abs() < 1e-9, "{}", outcome.ns_per_op);
    }

    #[test]
    fn a_run_that_is_cut_short_counts_what_follows_half_of_it() {
        let meter = Meter::new(Length::STEADY, 1000);
        let mut now = 0;
        while meter.again() {
            meter.begin(0, now);
            now += 1000;
            meter.end(0, now);
            match meter.all_ops() {
                50 => meter.end_warm_up(),
                100 => meter.hurry(),
                _ => {}
            }
        }
        let outcome = meter.outcome(1000, 0);
        assert_eq!((outcome.warm_up_ops, outcome.ops), (51, 50));
        assert_eq!((outcome.stationary, outcome.slowest_share), (Some(false), None));
    }

    #[test]
    fn times_that_grow_for_ever_end_at_the_limit_and_say_so() {
        let grows = outcome(|op| 1000 + op);
        assert_eq!(grows.stationary, Some(false));
        assert!(grows.warm_up_ops + grows.ops <= 64 * FIRST_WINDOW);
    }
}
