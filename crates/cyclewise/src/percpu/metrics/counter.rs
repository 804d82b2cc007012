//! What the macros count with: a per-CPU word, or one word where there is no memory for those.

use super::super::PerCpu;
use super::locked;
use metrics::CounterFn;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

pub(super) struct Counter {
    words: Words,
    /// Held by `absolute`: two that find the same difference would both add it.
    raising: Mutex<()>,
}

enum Words {
    PerCpu(PerCpu<u64>),
    /// Where there is no memory for a copy on each CPU.
    One(AtomicU64),
}

impl Counter {
    pub(super) fn new() -> Self {
        Self {
            words: PerCpu::try_new().map_or_else(|_| Words::One(AtomicU64::new(0)), Words::PerCpu),
            raising: Mutex::new(()),
        }
    }

    pub(super) fn sum(&self) -> u64 {
        match &self.words {
            Words::PerCpu(words) => words.sum(),
            Words::One(word) => word.load(Relaxed),
        }
    }
}

impl CounterFn for Counter {
    #[inline]
    fn increment(&self, value: u64) {
        match &self.words {
            Words::PerCpu(words) => words.add(value),
            Words::One(word) => {
                word.fetch_add(value, Relaxed);
            }
        }
    }

    /// Raises the sum to `value`, if it is below. An addition that runs at the same time counts as one after it.
    fn absolute(&self, value: u64) {
        let _alone = locked(&self.raising);
        let sum = self.sum();
        if value > sum {
            self.increment(value - sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_counts_as_well() {
        let counter = Counter {
            words: Words::One(AtomicU64::new(0)),
            raising: Mutex::new(()),
        };
        counter.increment(2);
        counter.absolute(1);
        assert_eq!(counter.sum(), 2);
        counter.absolute(5);
        counter.increment(1);
        assert_eq!(counter.sum(), 6);
    }
}
