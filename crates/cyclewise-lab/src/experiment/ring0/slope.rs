//! A row of ring 0: batches of a guest's three loops, and the slope over them, as in user mode.
//!
//! The stamps are inside the guest. A batch during which the host took the CPU is thrown away at once and repeated: it says nothing
//! about the payload, and the guest's own stamps cannot show it.

use crate::arch::Length;
use crate::error::{Error, Result};
use crate::machine::guest;
use crate::record::Variant;
use crate::runner::{Loops, Sample, Sampler, metrics};
use crate::sys::interrupt;
use cyclewise_guest::batch::{Batch, Bench};
use cyclewise_guest::payload::Exits;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::Cell;
use std::rc::Rc;

/// Batches of each loop in a sample, as in user mode.
const BATCHES: usize = 5;

/// Batches in a row with an exit, after which a row gives up: the host's timer ticks no more than once in thousands of batches.
const MOST_REJECTED: usize = 100;

/// The counts have two owners when the first row is made: the set-up and the row.
const FIRST: usize = 2;

/// The longest loop that is tried: a payload of no cost would never be long enough.
const MOST_ITERATIONS: u64 = 1 << 24;

/// Batches of all rows of an experiment.
#[derive(Debug, Default)]
pub(super) struct Counts {
    kept: Cell<u64>,
    repeated: Cell<u64>,
}

impl Counts {
    fn note(&self) -> String {
        let (kept, repeated) = (self.kept.get(), self.repeated.get());
        format!(
            "{repeated} of {} batches had an exit between their stamps and were repeated",
            kept + repeated
        )
    }
}

/// A row of ring 0.
pub(super) struct GuestSlope {
    bench: Bench,
    iterations: u64,
    order: Xoshiro256PlusPlus,
    counts: Rc<Counts>,
    /// One row of an experiment tells what all of them counted.
    tells: bool,
}

impl GuestSlope {
    /// Finds how many iterations of the shortest loop last `shortest_batch` ticks.
    pub(super) fn new(bench: Bench, shortest_batch: f64, seed: u64, counts: Rc<Counts>) -> Result<Self> {
        let mut slope = Self {
            bench,
            iterations: 1,
            order: Xoshiro256PlusPlus::seed_from_u64(seed),
            tells: Rc::strong_count(&counts) == FIRST,
            counts,
        };
        // A power of two, so that another run finds the same.
        loop {
            let ticks = slope.batch(Length::Once)?.ticks as f64;
            if ticks >= shortest_batch || slope.iterations >= MOST_ITERATIONS {
                return Ok(slope);
            }
            slope.iterations *= 2;
        }
    }

    /// A batch that no exit disturbed.
    fn batch(&mut self, length: Length) -> Result<Batch> {
        for _ in 0..MOST_REJECTED {
            let batch = self
                .bench
                .run(length as usize, self.iterations, &interrupt::asked)
                .map_err(guest::error)?;
            if self.bench.is_kept(batch) {
                self.counts.kept.set(self.counts.kept.get() + 1);
                return Ok(batch);
            }
            self.counts.repeated.set(self.counts.repeated.get() + 1);
        }
        Err(Error::check(format!(
            "{}: {MOST_REJECTED} batches in a row had exits between their stamps; reduce other load, or use a kernel with \
             KVM_CAP_BINARY_STATS_FD",
            self.bench.payload().name
        )))
    }

    fn loops_of(&self) -> Loops {
        let copies = self.bench.payload().copies;
        Loops {
            iterations: self.iterations,
            copies: Length::ALL.map(|length| length.times() * copies),
        }
    }
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// The cost of one copy from the medians of the three loops; signed, since noise may make the longest loop the quickest.
fn slope(medians: [u64; 3], loops: Loops) -> f64 {
    let copies = 3 * loops.iterations * u64::from(loops.copies[0]);
    (medians[2] as f64 - medians[0] as f64) / copies as f64
}

impl Sampler for GuestSlope {
    fn name(&self) -> &str {
        self.bench.payload().name
    }

    fn code_bytes(&self) -> Option<u32> {
        Some(self.bench.payload().code_bytes())
    }

    fn loops(&self) -> Option<Loops> {
        Some(self.loops_of())
    }

    fn finding(&self, _all: &[Variant]) -> Option<String> {
        self.tells.then(|| self.counts.note())
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut order = Length::ALL.map(|length| [length; BATCHES]).concat();
        order.shuffle(&mut self.order);
        let mut batches = Length::ALL.map(|_| Vec::with_capacity(BATCHES));
        for length in order {
            let batch = self.batch(length)?;
            batches[length as usize].push(batch);
        }
        let medians = |of: fn(&Batch) -> u64| batches.each_ref().map(|b| median(b.iter().map(of).collect()));
        let ticks = medians(|b| b.ticks);
        let exits = medians(|b| b.exits.unwrap_or(0));
        let metrics = match self.bench.payload().exits {
            Exits::None => Vec::new(),
            Exits::Each(_) | Exits::Maybe(_) => metrics([("exits", "1", slope(exits, self.loops_of()))]),
        };
        Ok(Sample {
            value: slope(ticks, self.loops_of()),
            metrics,
            batches: Some(ticks),
            ..Sample::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cyclewise_guest::arch::popf::PAYLOADS;
    use cyclewise_guest::vm::Guest;
    use std::time::Duration;

    #[test]
    fn the_slope_is_the_cost_of_one_copy() {
        let loops = Loops {
            iterations: 100,
            copies: [8, 16, 32],
        };
        let time = |copies: u64| 900 + 100 * (7 * copies + 3);
        assert_eq!(slope([time(8), time(16), time(32)], loops), 7.0);
        assert_eq!(median(vec![5, 9_000, 6, 5, 7]), 6, "a disturbed batch does not move it");
    }

    #[test]
    fn a_row_of_this_machines_guest_has_a_sample() {
        let Ok(guest) = Guest::new(false, Duration::from_secs(2)) else {
            return println!("skipped: no guest of /dev/kvm");
        };
        let bench = Bench::new(guest, &PAYLOADS[0]).unwrap();
        // One iteration: under an emulator an instruction takes thousands of ticks.
        let counts = Rc::new(Counts::default());
        let mut row = GuestSlope::new(bench, 1.0, 1, Rc::clone(&counts)).unwrap();
        let found = counts.kept.get();
        let sample = row.sample().unwrap();
        assert_eq!(counts.kept.get() - found, 3 * BATCHES as u64);
        assert!(
            row.finding(&[])
                .unwrap()
                .starts_with(&counts.repeated.get().to_string())
        );
        assert_eq!((row.name(), row.loops().unwrap().iterations), ("push-pop", 1));
        let [once, _, four_times] = sample.batches.unwrap();
        assert!(once > 0 && once < four_times, "{sample:?}");
        assert!(sample.value.is_finite() && sample.metrics.is_empty());
    }
}
