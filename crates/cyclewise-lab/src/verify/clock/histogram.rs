//! A histogram of nanoseconds, for percentiles of more samples than memory should hold.

/// Values below this are counted exactly; all others are counted here.
const MOST: usize = 1 << 20;

/// How often each number of nanoseconds was seen.
pub(super) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    /// The largest value, exact.
    pub(super) max: u64,
}

impl Histogram {
    pub(super) fn new() -> Self {
        Self {
            counts: vec![0; MOST + 1],
            total: 0,
            max: 0,
        }
    }

    pub(super) fn count(&mut self, ns: u64) {
        self.counts[(ns as usize).min(MOST)] += 1;
        self.total += 1;
        self.max = self.max.max(ns);
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The least value that at least `share` of the samples do not exceed.
    pub(super) fn quantile(&self, share: f64) -> u64 {
        let wanted = (self.total as f64 * share).ceil().max(1.0) as u64;
        let mut sum = 0;
        for (ns, count) in self.counts.iter().enumerate() {
            sum += count;
            if sum >= wanted {
                return if ns == MOST { self.max } else { ns as u64 };
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_samples() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(0.5), 0);
        (1..=1000).rev().for_each(|ns| histogram.count(ns));
        assert_eq!((histogram.quantile(0.5), histogram.quantile(0.999)), (500, 999));
        assert_eq!(
            (histogram.quantile(1.0), histogram.max, histogram.total()),
            (1000, 1000, 1000)
        );
        histogram.count(1 << 40);
        assert_eq!(histogram.quantile(1.0), 1 << 40);
    }
}
