//! Subjects that are a few instructions: two batches, and the slope between them.
//!
//! A sample times N iterations of U copies and N of 2U, [`BATCHES`] times each in random order, every batch between
//! serialized stamps. The difference of the two medians over N·U is one copy's cost: the stamps, the call and the loop
//! cancel. The empty loop, which has no copies, is timed over N and 2N iterations.
//!
//! The median, because a timer interrupt of some microseconds in one batch is no cost of the operation's, and no account
//! of the kernel's tells it apart from the thread's own work.
//!
//! # References
//! Abel and Reineke, "nanoBench", ISPASS 2020, section III-C (the same slope, and the median of runs).

use super::unrolled::{Assembled, Calls, Unrolled};
use super::{Sample, Subject, timer};
use crate::arch::{Arena, Body, stamp};
use crate::error::{Error, Result};
use crate::sys::perf::{Group, Reading};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Batches of each length in a sample: the least whose median shrugs off two disturbed ones.
const BATCHES: usize = 5;

/// What the subjects of one experiment share: memory, counters, batch length.
pub struct Bench {
    arena: Rc<RefCell<Box<Arena>>>,
    counters: Option<Rc<Group>>,
    batch: f64,
    sized: BTreeMap<String, u64>,
    seed: u64,
}

impl Bench {
    /// Measures the timer's noise and opens the PMU, if there is one.
    pub fn new() -> Self {
        Self {
            arena: Rc::new(RefCell::new(Arena::new())),
            counters: Group::core().ok().map(Rc::new),
            batch: timer::shortest_batch(timer::noise()),
            sized: BTreeMap::new(),
            seed: 1,
        }
    }

    /// A subject from a body in machine code.
    pub fn body(&mut self, body: Body) -> Box<dyn Subject> {
        let arena = Rc::clone(&self.arena);
        self.subject(Assembled { body, arena })
    }

    /// A subject from a Rust closure: four calls against eight.
    pub fn calls(&mut self, name: &'static str, call: impl FnMut() + 'static) -> Box<dyn Subject> {
        self.calls_of(name, 1, call)
    }

    /// The same, where one call is `operations` operations.
    pub fn calls_of(&mut self, name: &'static str, operations: u32, call: impl FnMut() + 'static) -> Box<dyn Subject> {
        self.calls_of_bytes(name, operations, None, call)
    }

    /// The same, where it is known how long one operation's code is.
    pub fn calls_of_bytes(
        &mut self,
        name: &'static str,
        operations: u32,
        bytes: Option<u32>,
        call: impl FnMut() + 'static,
    ) -> Box<dyn Subject> {
        self.subject(Calls {
            name,
            operations,
            bytes,
            call,
        })
    }

    /// A subject from any loop.
    pub fn subject(&mut self, mut unrolled: impl Unrolled + 'static) -> Box<dyn Subject> {
        // One name, one batch length: what is compared with itself must be the same to the last iteration.
        let iterations = *self
            .sized
            .entry(unrolled.name().to_string())
            .or_insert_with(|| iterations(&mut unrolled, self.batch));
        self.seed += 1;
        Box::new(Micro {
            unrolled,
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

/// The least power of two of iterations of `once` that last `batch` ticks.
///
/// A power of two, so that another run finds the same: some instructions' cost hangs on the batch length (LOCK INC on
/// Zen 4 by 2 %, in two modes), and a length found to the iteration would be another in every run.
fn iterations(unrolled: &mut impl Unrolled, batch: f64) -> u64 {
    let mut n = 1u64;
    loop {
        // The quicker of two: the first may fault pages in.
        let ticks = (0..2).map(|_| ticks(|| unrolled.once(n))).min().unwrap_or(0) as f64;
        if ticks >= batch || n >= 1 << 40 {
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

struct Micro<U> {
    unrolled: U,
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

impl<U: Unrolled> Micro<U> {
    fn batch(&mut self, twice: bool) -> Result<Batch> {
        let n = self.iterations;
        let before = self.read()?;
        let ticks = match (twice, self.unrolled.copies()) {
            (false, _) => ticks(|| self.unrolled.once(n)),
            (true, 0) => ticks(|| self.unrolled.once(2 * n)),
            (true, _) => ticks(|| self.unrolled.twice(n)),
        };
        let after = self.read()?;
        Ok(Batch {
            ticks,
            cycles: after.cycles - before.cycles,
            instructions: after.instructions - before.instructions,
        })
    }

    /// What the PMU has counted; zeroes without one, which [`Subject::sample`] then leaves out.
    fn read(&self) -> Result<Reading> {
        let stopped = |e| {
            Error::unsupported(format!(
                "the PMU stopped counting: {e}; end its other user (perf, a profiler) and run again"
            ))
        };
        self.counters
            .as_ref()
            .map_or(Ok(Reading::default()), |group| group.read().map_err(stopped))
    }
}

impl<U: Unrolled> Subject for Micro<U> {
    fn name(&self) -> &str {
        self.unrolled.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.unrolled.code_bytes()
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut order = [[false; BATCHES], [true; BATCHES]].concat();
        order.shuffle(&mut self.order);
        let (mut once, mut twice) = (Vec::with_capacity(BATCHES), Vec::with_capacity(BATCHES));
        for long in order {
            let batch = self.batch(long)?;
            if long { &mut twice } else { &mut once }.push(batch);
        }
        let operations = (self.iterations * u64::from(self.unrolled.copies().max(1))) as f64;
        // As signed: noise may make the longer batch the quicker one.
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
        let mut subject = bench.calls("count", move || seen.set(std::hint::black_box(seen.get() + 1)));
        count.set(0);
        subject.sample().unwrap();
        let once = count.get();
        assert_eq!(
            once % (12 * BATCHES as u64),
            0,
            "N iterations of 4 and N of 8, as often as promised"
        );
        subject.sample().unwrap();
        assert_eq!(count.get(), 2 * once, "every sample is the same length");
    }

    #[test]
    fn samples_are_finite_and_carry_the_name() {
        let mut bench = Bench::new();
        let mut subject = bench.body(entry::ADD_CHAIN);
        assert_eq!(subject.name(), "add-chain");
        assert!(subject.sample().unwrap().value.is_finite());
        assert!(subject.code_bytes().is_some());
    }
}
