//! What waiting instructions cost: PAUSE, or YIELD, ISB and WFE, by a slope over copies, in nanoseconds.

use crate::arch::wait;
use crate::error::Result;
use crate::runner::{Bench, Sample, Sampler, tick_rate};
use std::time::Duration;

/// For how long the counter's rate is measured, which turns ticks to nanoseconds.
const RATE: Duration = Duration::from_millis(20);

/// A row for each instruction.
pub(super) fn rows() -> Vec<Box<dyn Sampler>> {
    let (mut bench, ns_per_tick) = (Bench::new(), 1e9 / tick_rate(RATE));
    let row = |body| -> Box<dyn Sampler> {
        Box::new(InNanos {
            ticks: bench.body(body),
            ns_per_tick,
        })
    };
    wait::BODIES.map(row).into()
}

/// A row of ticks, in this experiment's unit.
struct InNanos {
    ticks: Box<dyn Sampler>,
    ns_per_tick: f64,
}

impl Sampler for InNanos {
    fn name(&self) -> &str {
        self.ticks.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.ticks.code_bytes()
    }

    /// The batches stay behind: they are in ticks.
    fn sample(&mut self) -> Result<Sample> {
        Ok(Sample::new(self.ticks.sample()?.value * self.ns_per_tick))
    }
}
