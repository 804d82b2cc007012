//! A microbenchmark's sample: batches of three loops, and the slope over them.
//!
//! A sample times N iterations of loops with U, 2U and 4U copies of the operation, [`BATCHES`] times each in random order,
//! each batch between serialized stamps. The difference of the medians of the longest and the shortest loop over 3·N·U is
//! the cost of one copy: stamps, call and loop cancel. The loop between the two shows whether the cost is linear in the
//! copies. The empty loop has no copies, so it is timed over N, 2N and 4N iterations.
//!
//! The median, because a timer interrupt of some microseconds in a batch is not a cost of the operation, and the
//! kernel's accounts do not separate it from the thread's own work.
//!
//! # Invariants
//! 1. A probe runs before the first batch and after each, outside all stamps: each batch is between two of them.
//!
//! # References
//! Abel and Reineke, "nanoBench", ISPASS 2020, section III-C (a slope over copies, and the median of runs).

use super::probe::Probe;
use super::{Loops, Sample, Sampler};
use crate::arch::{Length, stamp};
use crate::error::{Error, Result};
use crate::sys::perf::{Group, Reading};
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::rc::Rc;

/// Batches of each loop in a sample: the least whose median ignores two disturbed ones.
pub(super) const BATCHES: usize = 5;

/// A variant of copies in loops.
pub(super) struct Slope<'a> {
    pub(super) name: String,
    /// Copies in an iteration of the shortest loop; zero if the slope is over iterations.
    pub(super) copies: u32,
    /// Bytes of one copy, if known.
    pub(super) code_bytes: Option<u32>,
    /// Runs a number of iterations of a loop, and returns the ticks between the stamps around them. Behind a pointer, which is
    /// followed outside of the stamps, so that there is one `sample` and not one for each body.
    pub(super) run: Box<dyn FnMut(Length, u64) -> u64 + 'a>,
    pub(super) iterations: u64,
    pub(super) probe: Probe,
    pub(super) counters: Option<Rc<Group>>,
    pub(super) order: Xoshiro256PlusPlus,
}

/// One batch: its ticks, and what the PMU counted (zeroes without one).
struct Batch {
    ticks: u64,
    cycles: u64,
    instructions: u64,
}

/// The least power of two of iterations of the shortest loop that last `shortest_batch` ticks, at most `most`.
///
/// A power of two, so that another run finds the same: the cost of some instructions depends on the batch length (LOCK INC
/// on Zen 4 by 2 %, in two modes), and an exact length would differ from run to run.
pub(super) fn iterations(run: &mut dyn FnMut(Length, u64) -> u64, shortest_batch: f64, most: u64) -> u64 {
    let mut n = 1u64;
    loop {
        // The quicker of two: the first may fault pages in.
        let ticks = (0..2).map(|_| run(Length::Once, n)).min().unwrap_or(0) as f64;
        if ticks >= shortest_batch || 2 * n > most {
            return n;
        }
        n *= 2;
    }
}

/// The ticks that `run` takes, by serialized stamps around it.
#[inline(always)]
pub(crate) fn ticks(run: impl FnOnce()) -> u64 {
    let start = stamp::start();
    run();
    stamp::stop() - start
}

fn median(batches: &[Batch], of: fn(&Batch) -> u64) -> u64 {
    let mut values: Vec<u64> = batches.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// The cost of one copy, or of one iteration if there are no copies, from the medians of the three loops.
///
/// Signed: noise may make the longest loop the quickest.
fn slope(medians: [u64; 3], Loops { iterations, copies }: Loops) -> f64 {
    let units = iterations * u64::from(copies[0].max(1));
    (medians[2] as f64 - medians[0] as f64) / (3 * units) as f64
}

impl Slope<'_> {
    fn loops(&self) -> Loops {
        Loops {
            iterations: self.iterations,
            copies: Length::ALL.map(|length| length.times() * self.copies),
        }
    }

    fn batch(&mut self, length: Length) -> Result<Batch> {
        let n = self.iterations;
        let before = self.read()?;
        let ticks = match self.copies {
            0 => (self.run)(Length::Once, u64::from(length.times()) * n),
            _ => (self.run)(length, n),
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

impl Sampler for Slope<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn code_bytes(&self) -> Option<u32> {
        self.code_bytes
    }

    fn loops(&self) -> Option<Loops> {
        Some(self.loops())
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut order = Length::ALL.map(|length| [length; BATCHES]).concat();
        order.shuffle(&mut self.order);
        let mut batches = Length::ALL.map(|_| Vec::with_capacity(BATCHES));
        let mut probes = Vec::with_capacity(order.len() + 1);
        probes.push(self.probe.read());
        for length in order {
            let batch = self.batch(length)?;
            probes.push(self.probe.read());
            batches[length as usize].push(batch);
        }
        let medians = |of: fn(&Batch) -> u64| batches.each_ref().map(|batches| median(batches, of));
        let slope = |of| slope(medians(of), self.loops());
        let mut metrics = Vec::new();
        if self.counters.is_some() {
            metrics.extend(super::metrics([(super::CORE_CYCLES, "1", slope(|b| b.cycles))]));
            metrics.extend(super::metrics([(super::INSTRUCTIONS, "1", slope(|b| b.instructions))]));
        }
        Ok(Sample {
            value: slope(|b| b.ticks),
            metrics,
            batches: Some(medians(|b| b.ticks)),
            probes,
            ..Sample::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_the_cost_of_one_copy_and_not_the_loop() {
        let loops = |copies| Loops {
            iterations: 1_000,
            copies,
        };
        // 3 ticks a copy, 2 for the loop, 40 for the stamps.
        let time = |copies: u64| 40 + 1_000 * (3 * copies + 2);
        assert_eq!(slope([time(4), time(8), time(16)], loops([4, 8, 16])), 3.0);
        // The twin: the time by the copies has the loop's share.
        assert_ne!(time(4) as f64 / 4_000.0, 3.0);
        // The empty loop: 2 ticks an iteration.
        let empty = |times: u64| 40 + 1_000 * times * 2;
        assert_eq!(slope([empty(1), empty(2), empty(4)], loops([0; 3])), 2.0);
        assert!(slope([20, 15, 10], loops([1, 2, 4])) < 0.0, "noise has a sign");
    }

    #[test]
    fn one_disturbed_batch_does_not_move_the_median() {
        let batch = |ticks| Batch {
            ticks,
            cycles: 0,
            instructions: 0,
        };
        let batches = [10, 11, 9_000, 12, 10].map(batch);
        assert_eq!(median(&batches, |b| b.ticks), 11);
        assert_eq!(median(&[], |b: &Batch| b.ticks), 0);
    }
}
