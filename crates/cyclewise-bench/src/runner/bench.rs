//! Microbenchmarks: operations of a few instructions, as samplers that measure them by a [slope](super::slope).

use super::probe::Probe;
use super::slope::{Slope, iterations, ticks};
use super::{Sampler, timer};
use crate::arch::{Arena, Body, Length, opaque};
use crate::sys::perf::Group;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Calls of a closure in an iteration of the shortest loop.
pub(crate) const CALLS: u32 = 4;

/// Makes the microbenchmarks of one experiment, which share memory, counters and batch length.
pub struct Bench {
    arena: Rc<RefCell<Box<Arena>>>,
    counters: Option<Rc<Group>>,
    probe: Probe,
    shortest_batch: f64,
    iterations: BTreeMap<&'static str, u64>,
    seed: u64,
}

impl Bench {
    /// Measures the timer's noise and opens the PMU, if there is one.
    pub fn new() -> Self {
        let noise = timer::noise();
        Self {
            arena: Rc::new(RefCell::new(Arena::new())),
            counters: Group::core().ok().map(Rc::new),
            probe: Probe::new(noise),
            shortest_batch: timer::shortest_batch(noise),
            iterations: BTreeMap::new(),
            seed: 1,
        }
    }

    /// A body in machine code.
    pub fn body(&mut self, body: Body) -> Box<dyn Sampler> {
        let arena = Rc::clone(&self.arena);
        let run = move |length, n| {
            body.run(length, n, &mut arena.borrow_mut());
        };
        self.microbenchmark(body.name, body.copies, body.code_bytes(), run)
    }

    /// A body whose copies are a compiler's, so that no label says how long they are.
    pub fn loops(&mut self, body: Body) -> Box<dyn Sampler> {
        let arena = Rc::clone(&self.arena);
        let run = move |length, n| {
            body.run(length, n, &mut arena.borrow_mut());
        };
        self.microbenchmark(body.name, body.copies, None, run)
    }

    /// A Rust closure: four, eight and sixteen calls.
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
        let run = move |length, n| calls(length, n, &mut call);
        self.microbenchmark(name, CALLS * operations, bytes, run)
    }

    fn microbenchmark(
        &mut self,
        name: &'static str,
        copies: u32,
        code_bytes: Option<u32>,
        mut run: impl FnMut(Length, u64) + 'static,
    ) -> Box<dyn Sampler> {
        let mut timed = Box::new(move |length, n| ticks(|| run(length, n)));
        // One batch length for each name: an A/A comparison must run the same number of iterations.
        let iterations = match self.iterations.get(name) {
            Some(known) => *known,
            None => self.iterations(1 << 40, &mut *timed),
        };
        self.iterations.insert(name, iterations);
        let counters = self.counters.clone();
        self.slope(name.to_string(), copies, code_bytes, counters, iterations, timed)
    }

    /// The iterations of the shortest loop, a power of two of at most `most`, that are long enough for this machine's
    /// counter. `run` returns its ticks.
    pub fn iterations(&self, most: u64, run: &mut dyn FnMut(Length, u64) -> u64) -> u64 {
        iterations(run, self.shortest_batch, most)
    }

    /// A function of a user, whose batches stamp themselves: what they prepare is not timed. `counted`: nor is there
    /// anything to prepare, so that the PMU may count around them.
    pub fn of_batches<'a>(
        &mut self,
        name: String,
        copies: u32,
        counted: bool,
        iterations: u64,
        run: impl FnMut(Length, u64) -> u64 + 'a,
    ) -> Box<dyn Sampler + 'a> {
        let counters = self.counters.clone().filter(|_| counted);
        self.slope(name, copies, None, counters, iterations, Box::new(run))
    }

    fn slope<'a>(
        &mut self,
        name: String,
        copies: u32,
        code_bytes: Option<u32>,
        counters: Option<Rc<Group>>,
        iterations: u64,
        run: Box<dyn FnMut(Length, u64) -> u64 + 'a>,
    ) -> Box<dyn Sampler + 'a> {
        self.seed += 1;
        Box::new(Slope {
            name,
            copies,
            code_bytes,
            run,
            iterations,
            probe: self.probe,
            counters,
            order: Xoshiro256PlusPlus::seed_from_u64(self.seed),
        })
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

/// `n` iterations of the loop of this length: of four, eight or sixteen calls.
#[inline(always)]
pub(crate) fn calls(length: Length, n: u64, call: &mut impl FnMut()) {
    match length {
        Length::Once => four_calls(n, call),
        Length::Twice => eight_calls(n, call),
        Length::FourTimes => sixteen_calls(n, call),
    }
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

#[inline(never)]
fn sixteen_calls(n: u64, call: &mut impl FnMut()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::entry;
    use crate::runner::slope::BATCHES;
    use std::cell::Cell;

    #[test]
    fn a_sample_runs_the_loops_of_three_lengths_equally_often() {
        let count = Rc::new(Cell::new(0u64));
        let seen = Rc::clone(&count);
        let mut bench = Bench::new();
        let mut sampler = bench.calls("count", move || seen.set(std::hint::black_box(seen.get() + 1)));
        count.set(0);
        let loops = sampler.loops().unwrap();
        assert_eq!(loops.copies, [4, 8, 16]);
        sampler.sample().unwrap();
        let once = count.get();
        assert_eq!(once, loops.iterations * 28 * BATCHES as u64, "4 calls, 8 and 16");
        sampler.sample().unwrap();
        assert_eq!(count.get(), 2 * once, "every sample is the same length");
    }

    #[test]
    fn samples_carry_their_batches_and_a_probe_on_either_side_of_each() {
        let mut bench = Bench::new();
        let mut sampler = bench.body(entry::ADD_CHAIN);
        assert_eq!(sampler.name(), "add-chain");
        assert!(sampler.code_bytes().is_some());
        let sample = sampler.sample().unwrap();
        assert!(sample.value.is_finite());
        let [once, twice, four_times] = sample.batches.unwrap();
        // The medians of five: each loop does twice the work of the one before, whatever the machine does meanwhile.
        assert!(once < four_times, "{once} {twice} {four_times}");
        assert_eq!(sample.probes.len(), 3 * BATCHES + 1);
        assert!(sample.probes.iter().all(|p| p.is_finite() && *p > 0.0));
        assert_eq!(sample.stolen, None, "known by round only");
    }

    #[test]
    fn the_empty_loop_is_a_slope_over_iterations() {
        let mut sampler = Bench::new().microbenchmark("empty", 0, None, |_, n| {
            std::hint::black_box(n);
        });
        assert_eq!(sampler.loops().unwrap().copies, [0; 3]);
        assert!(sampler.sample().unwrap().batches.is_some());
    }
}
