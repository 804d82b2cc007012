//! A cell of a matrix: a loop of surroundings, with an operation between their repetitions or without.
//!
//! A cell is no slope. Its figure is the time of one repetition, with its share of the stamps, the call and the loop. The
//! same share is in the figure of the surroundings alone, which run in a loop of the same shape, as often, in the same round;
//! so it is not in the difference, which is all that is shown. What does not cancel is at most one iteration's
//! decrement and branch, which may run beside one of the two loops and not beside the other: a cycle or so over all
//! copies of an iteration. The cell's floor has it.

use super::probe::Probe;
use super::{Sample, Sampler, timer};
use crate::error::Result;
use crate::record::matrix;
use std::time::Duration;

/// Batches of a sample; the median of three ignores a disturbed one.
const BATCHES: usize = 3;
/// The share of a batch that runs before them untimed: other cells have run since, and the code and its branches are cold.
const WARM_UP: u64 = 4;

/// The cells of a setup: which sampler is which.
#[derive(Clone, Debug, Default)]
pub struct MatrixPlan {
    /// The matrix without figures.
    pub heads: matrix::Matrix,
    /// Where each sampler stands, in the order of the samplers.
    pub cells: Vec<Place>,
    pub rounds: usize,
    /// The time after which no further round begins.
    pub time: Duration,
}

/// A sampler's place in the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub surrounding: usize,
    pub role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Alone,
    /// The surroundings alone, a second time: the control.
    Again,
    /// The surroundings with this operation.
    With(usize),
}

/// A batch is as long as the span of a slope: the longest batch of a row less its shortest.
const SPAN: f64 = 3.0;

/// Runs that many iterations and returns the ticks.
pub(super) type Batch = Box<dyn FnMut(u64) -> u64>;

/// Makes cells, which share a probe and the shortest time of a batch.
pub struct CellBench {
    probe: Probe,
    shortest_batch: f64,
}

impl Default for CellBench {
    fn default() -> Self {
        Self::new()
    }
}

impl CellBench {
    /// Measures how long a batch has to be.
    pub fn new() -> Self {
        let noise = timer::noise();
        Self {
            probe: Probe::new(noise),
            shortest_batch: SPAN * timer::shortest_batch(noise),
        }
    }

    /// The iterations, a power of two of at most `most`, at which a batch is long enough.
    pub fn iterations(&self, batch: &mut dyn FnMut(u64) -> u64, most: u64) -> u64 {
        let mut n = 1;
        loop {
            // The quicker of two: the first may fault pages in.
            let ticks = (0..2).map(|_| batch(n)).min().unwrap_or(0);
            if ticks as f64 >= self.shortest_batch || 2 * n > most {
                return n;
            }
            n *= 2;
        }
    }

    /// A cell whose batches have this many iterations of `copies` repetitions.
    pub fn cell(&self, name: String, batch: Batch, iterations: u64, copies: u32) -> Box<dyn Sampler> {
        Box::new(Cell {
            name,
            batch,
            iterations,
            copies,
            probe: self.probe,
        })
    }
}

struct Cell {
    name: String,
    batch: Batch,
    iterations: u64,
    copies: u32,
    probe: Probe,
}

impl Sampler for Cell {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        (self.batch)((self.iterations / WARM_UP).max(1));
        let mut probes = Vec::with_capacity(BATCHES + 1);
        probes.push(self.probe.read());
        let mut ticks = [0; BATCHES];
        for batch in &mut ticks {
            *batch = (self.batch)(self.iterations);
            probes.push(self.probe.read());
        }
        ticks.sort_unstable();
        let repetitions = self.iterations * u64::from(self.copies);
        Ok(Sample {
            probes,
            ..Sample::new(ticks[BATCHES / 2] as f64 / repetitions as f64)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    fn bench(shortest_batch: f64) -> CellBench {
        CellBench {
            probe: Probe::new(0.0),
            shortest_batch,
        }
    }

    #[test]
    fn a_sample_is_the_median_batch_by_repetition() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let mut ticks = [0, 9_000, 800, 1_600].into_iter();
        let batch = move |n| {
            log.borrow_mut().push(n);
            ticks.next().unwrap_or(0)
        };
        let mut cell = bench(0.0).cell("x/y".to_string(), Box::new(batch), 16, 8);
        let sample = cell.sample().unwrap();
        assert_eq!(sample.value, 1_600.0 / 128.0, "the disturbed batch changes nothing");
        assert_eq!(*seen.borrow(), [4, 16, 16, 16], "one is not timed");
        assert_eq!(sample.probes.len(), 4, "each batch is between two probes");
    }

    #[test]
    fn batches_are_long_enough_and_never_longer_than_they_may_be() {
        let ten = &mut |n| 10 * n;
        assert_eq!(bench(1_000.0).iterations(ten, u64::MAX), 128);
        assert_eq!(bench(1_000.0).iterations(ten, 100), 64);
        assert_eq!(bench(0.0).iterations(ten, u64::MAX), 1);
    }
}
