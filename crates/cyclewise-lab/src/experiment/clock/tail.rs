//! Single reads of a clock: p99.9 and the maximum, with the mean of a batch.

use crate::arch::stamp;
use crate::error::Result;
use crate::record::Variant;
use crate::runner::{Bench, Loops, MetricComparison, Sample, Sampler, metrics};

/// Single reads in a sample: p99.9 is then the fifth slowest.
const READS: usize = 4_000;

/// The rows whose tails are compared.
const OURS: &str = "now";
const THEIRS: &str = "vdso-monotonic";

/// A row that also times single reads.
pub(super) struct Tail<F> {
    batch: Box<dyn Sampler>,
    read: F,
    ticks: Vec<u64>,
}

/// A row of calls of `read`, with the tail of single ones.
pub(super) fn row<F: FnMut() + Clone + 'static>(bench: &mut Bench, name: &'static str, read: F) -> Box<dyn Sampler> {
    Box::new(Tail {
        batch: bench.calls(name, read.clone()),
        read,
        ticks: vec![0; READS],
    })
}

impl<F: FnMut()> Sampler for Tail<F> {
    fn name(&self) -> &str {
        self.batch.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.batch.code_bytes()
    }

    fn loops(&self) -> Option<Loops> {
        self.batch.loops()
    }

    /// Our tail compared with the vDSO's.
    fn finding(&self, all: &[Variant]) -> Option<String> {
        let tell = |metric: &str, label: &str| {
            let comparison = MetricComparison::between(all, [OURS, THEIRS], metric)?;
            let ([ours, theirs], [low, high]) = (comparison.means, comparison.ci95);
            Some(format!(
                "{label} {ours:.0} and {theirs:.0} tick, {} (95 % CI of the difference {low:+.0} to {high:+.0})",
                comparison.direction()
            ))
        };
        let of_ours = || {
            Some(format!(
                "{}; {}",
                tell("read-p99.9", "p99.9")?,
                tell("read-max", "max")?
            ))
        };
        let told = (self.name() == OURS).then(of_ours)??;
        Some(format!("single reads, {OURS} against {THEIRS}: {told}"))
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
        sample.metrics.extend(metrics([
            ("read-p50", "tick", at(0.5)),
            ("read-p99.9", "tick", at(0.999)),
            ("read-max", "tick", at(1.0)),
        ]));
        Ok(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Metric;

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

    fn variant(name: &str, tails: [f64; 3]) -> Variant {
        let metric = |samples: Vec<f64>| Metric {
            unit: "tick".to_string(),
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            sd: 1.0,
            samples,
        };
        let most = tails.map(|tail| tail * 40.0).to_vec();
        Variant {
            name: name.to_string(),
            n: 3,
            mean: 1.0,
            median: 1.0,
            min: 1.0,
            ci95: [1.0; 2],
            metrics: [("read-p99.9", tails.to_vec()), ("read-max", most)]
                .map(|(name, samples)| (name.to_string(), metric(samples)))
                .into(),
            samples: vec![1.0; 3],
            ..Variant::default()
        }
    }

    #[test]
    fn the_tail_is_said_to_be_below_only_where_it_is() {
        let found = |ours, theirs| {
            let row = row(&mut Bench::new(), "now", || {});
            row.finding(&[variant("now", ours), variant("vdso-monotonic", theirs)])
                .unwrap()
        };
        let below = found([100.0, 101.0, 102.0], [130.0, 131.0, 132.0]);
        assert_eq!(
            below,
            "single reads, now against vdso-monotonic: p99.9 101 and 131 tick, below (95 % CI of the difference -32 to -28); \
             max 4040 and 5240 tick, below (95 % CI of the difference -1291 to -1109)"
        );
        assert!(found([130.0, 131.0, 132.0], [100.0, 101.0, 102.0]).contains("tick, above"));
        assert!(found([90.0, 130.0, 190.0], [100.0, 131.0, 180.0]).contains("tick, undecided"));
        let other = row(&mut Bench::new(), "quanta", || {});
        assert_eq!(other.finding(&[variant("now", [1.0, 2.0, 3.0])]), None);
    }
}
