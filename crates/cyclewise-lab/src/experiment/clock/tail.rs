//! Single reads: what the slowest of a thousand takes, and the slowest of all, beside the mean of a batch.

use crate::arch::stamp;
use crate::error::Result;
use crate::runner::{Bench, Sample, Subject};

/// Single reads in a sample: the slowest in a thousand is then the fifth.
const READS: usize = 4_000;

/// A subject that also times single reads.
pub(super) struct Tail<F> {
    batch: Box<dyn Subject>,
    read: F,
    ticks: Vec<u64>,
}

/// A row of calls of `read`, with the tail of single ones.
pub(super) fn row<F: FnMut() + Clone + 'static>(bench: &mut Bench, name: &'static str, read: F) -> Box<dyn Subject> {
    Box::new(Tail {
        batch: bench.calls(name, read.clone()),
        read,
        ticks: vec![0; READS],
    })
}

impl<F: FnMut()> Subject for Tail<F> {
    fn name(&self) -> &str {
        self.batch.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.batch.code_bytes()
    }

    fn sample(&mut self) -> Result<Sample> {
        let mut sample = self.batch.sample()?;
        for ticks in &mut self.ticks {
            let start = stamp::start();
            (self.read)();
            *ticks = stamp::stop() - start;
        }
        self.ticks.sort_unstable();
        let at = |share: f64| self.ticks[((READS as f64 * share) as usize).min(READS - 1)] as f64;
        sample.metrics.push(("read-p50", "tick", at(0.5)));
        sample.metrics.push(("read-p99.9", "tick", at(0.999)));
        sample.metrics.push(("read-max", "tick", at(1.0)));
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_reads_are_in_the_tail_and_not_in_the_median() {
        let mut count = 0u32;
        let read = move || {
            count += 1;
            if count.is_multiple_of(500) {
                let begun = std::time::Instant::now();
                while begun.elapsed() < std::time::Duration::from_micros(50) {}
            }
        };
        let sample = row(&mut Bench::new(), "some-slow", read).sample().unwrap();
        let metric = |name: &str| sample.metrics.iter().find(|m| m.0 == name).unwrap().2;
        assert!(10.0 * metric("read-p50") < metric("read-p99.9"));
        assert!(metric("read-p99.9") <= metric("read-max"));
    }
}
