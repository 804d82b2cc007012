//! How long a new owner keeps a line from others.
//!
//! # The law
//! From an exclusive fill on, the owner answers no request before what it came for is done, nor before the hold is over.
//! The hold is none, so many cycles, or learned by each core: so many steps of so many cycles, more of them after an
//! exchange or a conditional store that failed, fewer after each exclusive fill, between none and the most.
//!
//! # References
//! Fixed: gem5's MOESI protocols, 50 cycles. Adaptive: gem5's CHI, 4 cycles a step, 4 steps up, 1 down, 256 at most.
//! L. Torvalds in "Disable lockref on arm64", 2019: an owner that keeps the line for tens of cycles makes the second
//! exchange succeed.

use super::timing::{Picos, Timing};
use crate::machine::Hold;

/// A second: so that the longest holds do not overrun the clock.
const LONGEST: Picos = 1_000_000_000_000;

/// The law, and what each core has learned.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    law: Law,
    /// For each core its steps; empty where nothing is learned.
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

    /// The line has come to a core exclusively: how long it holds it.
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

    /// An exchange or a conditional store of a core has failed.
    pub(crate) fn lost(&mut self, core: u32) {
        if let Law::Adaptive { up, max, .. } = self.law {
            let steps = &mut self.steps[core as usize];
            *steps = steps.saturating_add(up).min(max);
        }
    }
}
