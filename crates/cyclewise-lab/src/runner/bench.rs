//! Microbenchmarks: operations of a few instructions, measured as the slope between two batches.
//!
//! A sample times N iterations of a loop with U copies of the operation and N of a loop with 2U, [`BATCHES`] times each
//! in random order, each batch between serialized stamps. The difference of the two medians over N·U is the cost of one
//! copy: stamps, call and loop cancel. The empty loop has no copies, so it is timed over N and 2N iterations.
//!
//! The median, because a timer interrupt of some microseconds in a batch is not a cost of the operation, and the
//! kernel's accounts do not separate it from the thread's own work.
//!
//! # References
//! Abel and Reineke, "nanoBench", ISPASS 2020, section III-C (the same slope, and the median of runs).

use super::{Sample, Sampler, timer};
use crate::arch::{Arena, Body, opaque, stamp};
use crate::error::{Error, Result};
use crate::sys::perf::{Group, Reading};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Batches of each loop in a sample: the least whose median ignores two disturbed ones.
const BATCHES: usize = 5;

/// Calls of a closure in an iteration of the shorter loop.
const CALLS: u32 = 4;

/// Makes the microbenchmarks of one experiment, which share memory, counters and batch length.
pub struct Bench {
    arena: Rc<RefCell<Box<Arena>>>,
    counters: Option<Rc<Group>>,
    shortest_batch: f64,
    iterations: BTreeMap<&'static str, u64>,
    seed: u64,
}

impl Bench {
    /// Measures the timer's noise and opens the PMU, if there is one.
    pub fn new() -> Self {
        Self {
            arena: Rc::new(RefCell::new(Arena::new())),
            counters: Group::core().ok().map(Rc::new),
            shortest_batch: timer::shortest_batch(timer::noise()),
            iterations: BTreeMap::new(),
            seed: 1,
        }
    }

    /// A body in machine code.
    pub fn body(&mut self, body: Body) -> Box<dyn Sampler> {
        let arena = Rc::clone(&self.arena);
        let run = move |length, n| {
            body.run(length == Length::Twice, n, &mut arena.borrow_mut());
        };
        self.microbenchmark(body.name, body.copies, body.code_bytes(), run)
    }

    /// A Rust closure: four calls against eight.
    pub fn calls(&mut self, name: &'static str, call: impl FnMut() + 'static) -> Box<dyn Sampler> {
        self.calls_of(name, 1, call)
    }

    /// The same, where one call is `operations` operations.
    pub fn calls_of(&mut self, name: &'static str, operations: u32, call: impl FnMut() + 'static) -> Box<dyn Sampler> {
        self.calls_of_bytes(name, operations, None, call)
    }

    /// The same, where the code of one operation is `bytes` long.
    pub fn calls_of_bytes(
        &mut self,
        name: &'static str,
        operations: u32,
        bytes: Option<u32>,
        mut call: impl FnMut() + 'static,
    ) -> Box<dyn Sampler> {
        let run = move |length, n| match length {
            Length::Once => four_calls(n, &mut call),
            Length::Twice => eight_calls(n, &mut call),
        };
        self.microbenchmark(name, CALLS * operations, bytes, run)
    }

    fn microbenchmark(
        &mut self,
        name: &'static str,
        copies: u32,
        code_bytes: Option<u32>,
        mut run: impl FnMut(Length, u64) + 'static,
    ) -> Box<dyn Sampler> {
        // One batch length for each name: an A/A comparison must run the same number of iterations.
        let iterations = *self
            .iterations
            .entry(name)
            .or_insert_with(|| iterations(&mut run, self.shortest_batch));
        self.seed += 1;
        Box::new(Microbenchmark {
            name,
            copies,
            code_bytes,
            run,
            iterations,
            counters: self.counters.clone(),
            order: Xoshiro256PlusPlus::seed_from_u64(self.seed),
        })
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

/// Which of the two loops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    /// U copies an iteration.
    Once,
    /// 2U copies an iteration.
    Twice,
}

#[inline(never)]
fn four_calls(n: u64, call: &mut impl FnMut()) {
    let mut left = n;
    while left > 0 {
        left = opaque(left) - 1;
        call();
        call();
        call();
        call();
    }
}

#[inline(never)]
fn eight_calls(n: u64, call: &mut impl FnMut()) {
    let mut left = n;
    while left > 0 {
        left = opaque(left) - 1;
        call();
        call();
        call();
        call();
        call();
        call();
        call();
        call();
    }
}

/// The least power of two of iterations of the shorter loop that last `shortest_batch` ticks.
///
/// A power of two, so that another run finds the same: the cost of some instructions depends on the batch length (LOCK INC
/// on Zen 4 by 2 %, in two modes), and an exact length would differ from run to run.
fn iterations(run: &mut impl FnMut(Length, u64), shortest_batch: f64) -> u64 {
    let mut n = 1u64;
    loop {
        // The quicker of two: the first may fault pages in.
        let ticks = (0..2).map(|_| ticks(|| run(Length::Once, n))).min().unwrap_or(0) as f64;
        if ticks >= shortest_batch || n >= 1 << 40 {
            return n;
        }
        n *= 2;
    }
}

#[inline(always)]
fn ticks(run: impl FnOnce()) -> u64 {
    let start = stamp::start();
    run();
    stamp::stop() - start
}

struct Microbenchmark<F> {
    name: &'static str,
    /// Copies in an iteration of the shorter loop; zero if the slope is over iterations.
    copies: u32,
    /// Bytes of one copy, if known.
    code_bytes: Option<u32>,
    /// Runs a number of iterations of a loop.
    run: F,
    iterations: u64,
    counters: Option<Rc<Group>>,
    order: Xoshiro256PlusPlus,
}

/// One batch: its ticks, and what the PMU counted (zeroes without one).
struct Batch {
    ticks: u64,
    cycles: u64,
    instructions: u64,
}

fn median(batches: &[Batch], of: fn(&Batch) -> u64) -> u64 {
    let mut values: Vec<u64> = batches.iter().map(of).collect();
    values.sort_unstable();
    values[values.len() / 2]
}

impl<F: FnMut(Length, u64)> Microbenchmark<F> {
    fn batch(&mut self, length: Length) -> Result<Batch> {
        let n = self.iterations;
        let before = self.read()?;
        let ticks = match (length, self.copies) {
            (Length::Once, _) => ticks(|| (self.run)(Length::Once, n)),
            (Length::Twice, 0) => ticks(|| (self.run)(Length::Once, 2 * n)),
            (Length::Twice, _) => ticks(|| (self.run)(Length::Twice, n)),
        };
        let after = self.read()?;
        Ok(Batch {
            ticks,
            cycles: after.cycles - before.cycles,
            instructions: after.instructions - before.instructions,
        })
    }

    /// The PMU's counts; zeroes without one, which [`Sampler::sample`] then leaves out.
    fn read(&self) -> Result<Reading> {
        let stopped = |e| {
            Error::unsupported(format!(
                "the PMU stopped counting: {e}; stop its other user (perf, a profiler) and run again"
            ))
        };
        self.counters
            .as_ref()
            .map_or(Ok(Reading::default()), |group| group.read().map_err(stopped))
    }
}

impl<F: FnMut(Length, u64)> Sampler for Microbenchmark<F> {
    fn name(&self) -> &str {
        self.name
    }

    fn code_bytes(&self) -> Option<u32> {
        self.code_bytes
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut order = [[Length::Once; BATCHES], [Length::Twice; BATCHES]].concat();
        order.shuffle(&mut self.order);
        let (mut once, mut twice) = (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES));
        for length in order {
            let batch = self.batch(length)?;
            match length {
                Length::Once => once.push(batch),
                Length::Twice => twice.push(batch),
            }
        }
        let operations = (self.iterations * u64::from(self.copies.max(1))) as f64;
        // Signed: noise may make the longer batch the quicker one.
        let slope = |of: fn(&Batch) -> u64| (median(&twice, of) as f64 - median(&once, of) as f64) / operations;
        let mut sample = Sample::new(slope(|b| b.ticks));
        if self.counters.is_some() {
            sample.metrics = vec![
                (super::CORE_CYCLES, "1", slope(|b| b.cycles)),
                (super::INSTRUCTIONS, "1", slope(|b| b.instructions)),
            ];
        }
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::entry;
    use std::cell::Cell;

    #[test]
    fn a_sample_runs_each_batch_as_often_as_the_other() {
        let count = Rc::new(Cell::new(0u64));
        let seen = Rc::clone(&count);
        let mut bench = Bench::new();
        let mut sampler = bench.calls("count", move || seen.set(std::hint::black_box(seen.get() + 1)));
        count.set(0);
        sampler.sample().unwrap();
        let once = count.get();
        assert_eq!(
            once % (12 * BATCHES as u64),
            0,
            "N iterations of 4 and N of 8, as often as promised"
        );
        sampler.sample().unwrap();
        assert_eq!(count.get(), 2 * once, "every sample is the same length");
    }

    #[test]
    fn samples_are_finite_and_carry_the_name() {
        let mut bench = Bench::new();
        let mut sampler = bench.body(entry::ADD_CHAIN);
        assert_eq!(sampler.name(), "add-chain");
        assert!(sampler.sample().unwrap().value.is_finite());
        assert!(sampler.code_bytes().is_some());
    }
}
