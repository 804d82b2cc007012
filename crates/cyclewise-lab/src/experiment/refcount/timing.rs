//! LKDTM's timings: a count from 1 to `INT_MAX` and back to 0, a slice in every round.
//!
//! A whole pass takes seconds, during which the thread is certainly preempted. Split into [`SLICES`] slices, each slice
//! is guarded like any sample and the rows alternate; a run of `--full` takes at least that many: one whole pass each.
//!
//! # References
//! Linux `drivers/misc/lkdtm/refcount.c`: ATOMIC_TIMING and REFCOUNT_TIMING.

use super::{CasFull, Count, Refcount, Unchecked};
use crate::arch::stamp;
use crate::error::{Error, Result};
use crate::runner::{Sample, Sampler};

/// Slices of a pass: as many samples as `--full` takes at least.
const SLICES: u32 = 1_000;

pub(super) const NOTE: &str = "the lkdtm variants count from 1 to INT_MAX and back to 0, a thousandth in each sample; the figure is per increment or decrement, loop included, like the source's";

pub(super) fn subjects() -> Vec<Box<dyn Sampler>> {
    vec![
        Box::new(Pass::new("lkdtm-atomic", Unchecked::new(1), i32::MAX.unsigned_abs())),
        Box::new(Pass::new("lkdtm-refcount", Refcount::new(1), i32::MAX.unsigned_abs())),
        Box::new(Pass::new("lkdtm-cas-full", CasFull::new(1), i32::MAX.unsigned_abs())),
    ]
}

struct Pass<C> {
    name: &'static str,
    count: C,
    top: u32,
    /// Increments and decrements left of this pass.
    up: u32,
    down: u32,
}

impl<C: Count> Pass<C> {
    fn new(name: &'static str, count: C, top: u32) -> Self {
        let mut pass = Self {
            name,
            count,
            top,
            up: 0,
            down: 0,
        };
        pass.begin();
        pass
    }

    fn begin(&mut self) {
        self.count.set(1);
        (self.up, self.down) = (self.top - 1, self.top);
    }

    /// Increments and decrements; returns whether the last reference was dropped.
    #[inline(never)]
    fn go(&self, up: u32, down: u32) -> bool {
        for _ in 0..up {
            self.count.inc();
        }
        for _ in 0..down {
            if self.count.dec_and_test() {
                return true;
            }
        }
        false
    }
}

impl<C: Count> Sampler for Pass<C> {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let share = (self.top / SLICES + 1) * 2;
        let up = self.up.min(share);
        let down = self.down.min(share - up);
        let start = stamp::start();
        let last = self.go(up, down);
        let ticks = stamp::stop() - start;
        self.up -= up;
        self.down -= down;
        if last != (self.down == 0) {
            return Err(Error::unsupported(format!(
                "{} lost count on its way from 1 to {} and back: {} decrements are left; report this",
                self.name, self.top, self.down
            )));
        }
        if last {
            self.begin();
        }
        Ok(Sample::new(ticks as f64 / f64::from(up + down)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_at_zero_and_another_begins() {
        let mut pass = Pass::new("small", Refcount::new(7), 2_500);
        let mut slices = 0;
        while pass.down > 0 && slices < 10 * SLICES {
            let before = pass.down;
            // A slice this short may begin and end in one tick of a slow counter.
            assert!(pass.sample().unwrap().value >= 0.0);
            slices += 1;
            if pass.down > before {
                break;
            }
        }
        assert_eq!(pass.count.read(), 1, "begun again");
        assert_eq!(slices, 4_999_u32.div_ceil(6), "a thousandth at a time, rounded up");
    }

    #[test]
    fn a_count_that_gets_lost_is_an_error() {
        let mut pass = Pass::new("small", Refcount::new(1), 2);
        pass.count.inc();
        let error = pass.sample().err().or_else(|| pass.sample().err()).unwrap();
        assert!(error.message.contains("lost count"), "{}", error.message);
    }
}
