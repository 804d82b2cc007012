//! [`Snapshot`]: a histogram's counts at some moment, and what can be said of them.

use super::cells::{self, ABOVE, BELOW, CELLS, WORDS};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::iter;

/// The counts of a [`Histogram`](super::Histogram).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot(Box<[u64]>);

/// A cell in which values were counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// Its values are above this,
    pub lower: f64,
    /// and at most this.
    pub upper: f64,
    /// How many there are.
    pub count: u64,
}

/// Between which numbers a figure is: above `lower`, and at most `upper`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The figure is above this; minus infinity if it was below all cells.
    pub lower: f64,
    /// The figure is at most this; infinity if it was above all cells.
    pub upper: f64,
}

/// The sum of counts, as far as it is below 2^64.
fn total(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
}

impl Bucket {
    /// The middle of its bounds: at most 1.6 % from each value in it.
    #[must_use]
    pub fn middle(self) -> f64 {
        f64::midpoint(self.lower, self.upper)
    }
}

impl Range {
    /// The middle of both: at most 1.6 % from the figure. If one is infinite, the other.
    #[must_use]
    pub fn middle(self) -> f64 {
        match (self.lower.is_finite(), self.upper.is_finite()) {
            (false, _) => self.upper,
            (_, false) => self.lower,
            _ => f64::midpoint(self.lower, self.upper),
        }
    }
}

impl Snapshot {
    pub(super) fn empty() -> Self {
        Self(vec![0; WORDS].into_boxed_slice())
    }

    #[inline]
    pub(super) fn add(&mut self, count: impl Fn(usize) -> u64) {
        for (n, sum) in self.0.iter_mut().enumerate() {
            *sum = sum.wrapping_add(count(n));
        }
    }

    /// Adds the counts of another histogram. Counts stop at `u64::MAX`, here and in sums of them.
    pub fn merge(&mut self, other: &Self) {
        for (sum, &count) in self.0.iter_mut().zip(&other.0) {
            *sum = sum.saturating_add(count);
        }
    }

    /// What was counted since an earlier snapshot of the same histogram. Where the other has more, it is 0.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = self.0.iter().zip(&earlier.0);
        Self(counts.map(|(now, before)| now.saturating_sub(*before)).collect())
    }

    /// How many values were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        total(&self.0)
    }

    /// How many of them were 2^-32 or less: zero and negative ones too.
    #[must_use]
    pub fn below(&self) -> u64 {
        self.0[BELOW]
    }

    /// How many of them were above 2^64, or not a number.
    #[must_use]
    pub fn above(&self) -> u64 {
        self.0[ABOVE]
    }

    /// The cells in which there is a value, in ascending order. Values [`below`](Self::below) and [`above`](Self::above) are in none.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let cells = self.0[..CELLS].iter().enumerate();
        cells.filter(|&(_, &count)| count != 0).map(|(n, &count)| Bucket {
            lower: cells::bound(n),
            upper: cells::bound(n + 1),
            count,
        })
    }

    /// Between which numbers the value is that a share of `q` of all values does not exceed; `None` without values. 0.5 is the median.
    ///
    /// `q` is from 0, for the smallest value, to 1, for the largest; what is outside counts as these, and what is not a number as 0.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Range> {
        let count = self.count();
        let place = q.clamp(0.0, 1.0) * count as f64;
        // The first value that has as many at or below it, counted from 1.
        let rank = (place as u64)
            .saturating_add(u64::from((place as u64 as f64) < place))
            .clamp(1, count.max(1));
        let below = Bucket {
            lower: f64::NEG_INFINITY,
            upper: cells::bound(0),
            count: self.below(),
        };
        let above = Bucket {
            lower: cells::bound(CELLS),
            upper: f64::INFINITY,
            count: self.above(),
        };
        let mut seen: u64 = 0;
        let mut buckets = iter::once(below).chain(self.buckets()).chain([above]);
        let found = buckets.find(|bucket| {
            seen = seen.saturating_add(bucket.count);
            seen >= rank
        });
        found.map(|Bucket { lower, upper, .. }| Range { lower, upper })
    }

    /// Between which numbers the sum of the values is, without those [`below`](Self::below) and [`above`](Self::above).
    #[must_use]
    pub fn sum(&self) -> Range {
        let zero = Range { lower: 0.0, upper: 0.0 };
        self.buckets().fold(zero, |sum, bucket| Range {
            lower: sum.lower + bucket.lower * bucket.count as f64,
            upper: sum.upper + bucket.upper * bucket.count as f64,
        })
    }

    /// The counts as a base-2 exponential histogram of a scale from 0 to 3 has them (a larger scale counts as 3): an index i, and how many values are above
    /// 2^(i / 2^scale) and at most 2^((i + 1) / 2^scale). These are OpenTelemetry's indices; Prometheus' native histograms, whose schema
    /// is the scale, have one more. [`below`](Self::below) is the zero bucket's count, with a threshold of 2^-32.
    ///
    /// At scale 0 counts are exact. At other scales a bound may be inside a cell, whose values then count as its middle: as if they were
    /// up to 1.6 % smaller or larger.
    #[must_use]
    pub fn exponential(&self, scale: u32) -> Vec<(i32, u64)> {
        let mut buckets: Vec<(i32, u64)> = Vec::new();
        for (cell, &count) in self.0[..CELLS].iter().enumerate().filter(|&(_, &count)| count != 0) {
            let index = cells::exponential_index(cell, scale.min(cells::FINEST));
            match buckets.last_mut() {
                Some((last, sum)) if *last == index => *sum = sum.saturating_add(count),
                _ => buckets.push((index, count)),
            }
        }
        buckets
    }

    /// How many values are at most 2^`exponent`: exact, for exponents from -32 to 64.
    pub(super) fn up_to(&self, exponent: i32) -> u64 {
        self.below().saturating_add(total(&self.0[..cells::below(exponent)]))
    }
}
