//! The length of a core cycle while N threads run, by a chain of dependent additions on each.
//!
//! A dependent addition of registers takes one cycle on every core that this runs on. So the row is the clock under that load,
//! which neither the counter's rate nor the data sheet says: the counter runs at a rate of its own, and turbo depends on how many
//! cores are busy. The loop's own instructions are beside the chain and take no time.

use crate::arch::{Arena, Length, entry};
use crate::error::Result;
use crate::runner::crowd::Crowd;
use crate::runner::{Sample, Sampler};
use crate::sys::clock;
use std::sync::atomic::Ordering::Relaxed;

/// The beginning of its rows' names.
pub(super) const NAME: &str = "cycle";

/// Loops of the chain between two looks at the flag: some microseconds.
const LOOPS: u64 = 64;

/// A row of `crowd`.
pub(super) struct Cycle {
    name: String,
    crowd: Crowd,
}

impl Cycle {
    pub(super) fn new(crowd: &Crowd) -> Self {
        Self {
            name: format!("{NAME}-t{}", crowd.threads),
            crowd: crowd.clone(),
        }
    }
}

impl Sampler for Cycle {
    fn name(&self) -> &str {
        &self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        let name: &str = &self.name;
        let run = self.crowd.run(name, |_, stop| {
            let mut arena = Arena::new();
            let adds = LOOPS * u64::from(entry::ADD_CHAIN.copies);
            let mut quickest = f64::INFINITY;
            loop {
                let begun = clock::monotonic_ns();
                for _ in 0..STRETCHES {
                    entry::ADD_CHAIN.run(Length::Once, LOOPS, &mut arena);
                }
                let ns = clock::monotonic_ns() - begun;
                quickest = quickest.min(ns as f64 / (STRETCHES * adds) as f64);
                // Relaxed: a flag and nothing else.
                if stop.load(Relaxed) {
                    return quickest;
                }
            }
        })?;
        // The slowest core's: the one that others wait for.
        Ok(Sample::new(run.results().copied().fold(0.0, f64::max)))
    }
}

/// Stretches that are timed together: a tenth of a millisecond, of which reading the clock is nothing. Of a thread's stretches the
/// quickest counts, since an interrupt or a neighbour only adds.
const STRETCHES: u64 = 32;
