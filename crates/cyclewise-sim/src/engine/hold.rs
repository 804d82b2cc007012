//! How long a new owner keeps a line.
//!
//! # Law
//! After an exclusive fill the owner serves no request before the access that requested the line is done and the hold is over. The
//! hold is none, a fixed number of cycles, or adapted by each core: a number of steps, which grows with each failed exchange or
//! conditional store and shrinks with each exclusive fill, between zero and a maximum.
//!
//! # References
//! Fixed: gem5's MOESI protocols, 50 cycles. Adaptive: gem5's CHI, 4 cycles per step, 4 steps up, 1 down, at most 256. L. Torvalds in
//! "Disable lockref on arm64", 2019: if the owner keeps the line for tens of cycles, the second exchange succeeds.

use super::timing::{Picos, Timing};
use crate::machine::Hold;

/// A second, so that no hold overflows the clock.
const LONGEST: Picos = 1_000_000_000_000;

/// The law, and the state of each core.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    law: Law,
    /// Each core's steps; empty for fixed holds.
    steps: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Fixed(Picos),
    Adaptive { step: Picos, up: u32, down: u32, max: u32 },
}

impl Holds {
    pub(crate) fn new(hold: Hold, cores: u32, timing: &Timing) -> Self {
        let (law, learners) = match hold {
            Hold::None => (Law::Fixed(0), 0),
            Hold::Fixed { cycles } => (Law::Fixed(timing.cycles(cycles)), 0),
            Hold::Adaptive { cycles, up, down, max } => {
                let step = timing.cycles(cycles);
                (Law::Adaptive { step, up, down, max }, cores)
            }
        };
        Self {
            law,
            steps: vec![0; learners as usize],
        }
    }

    /// Returns how long a core holds the line, after an exclusive fill.
    pub(crate) fn filled(&mut self, core: u32) -> Picos {
        self.time(core).min(LONGEST)
    }

    fn time(&mut self, core: u32) -> Picos {
        match self.law {
            Law::Fixed(time) => time,
            Law::Adaptive { step, down, .. } => {
                let steps = &mut self.steps[core as usize];
                let time = step.saturating_mul(Picos::from(*steps));
                *steps = steps.saturating_sub(down);
                time
            }
        }
    }

    /// Records a failed exchange or conditional store of a core.
    pub(crate) fn lost(&mut self, core: u32) {
        if let Law::Adaptive { up, max, .. } = self.law {
            let steps = &mut self.steps[core as usize];
            *steps = steps.saturating_add(up).min(max);
        }
    }
}
