//! Batches of a payload between two stamps, in a guest: what a slope is computed from.
//!
//! # Invariants
//! 1. A batch is one entry of the guest. Both stamps are inside, so neither the entry nor the exit at its end is between them.
//! 2. A batch of a payload that does not exit is kept only where the kernel counted no other exit: an interrupt of the host's would be
//!    between the stamps.

use crate::arch::payload::{Exits, Payload};
use crate::error::{Error, Result};
use crate::image::{Image, Loops};
use crate::outcome::Outcome;
use crate::vm::Guest;

/// The exit by which a batch ends.
const LAST_EXIT: u64 = 1;

/// One batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Ticks between the stamps.
    pub ticks: u64,
    /// Exits between them; `None` where the kernel does not count.
    pub exits: Option<u64>,
}

/// A payload in a guest, ready to run its loops of U, 2U and 4U copies.
pub struct Bench {
    guest: Guest,
    payload: &'static Payload,
    loops: Loops,
}

impl Bench {
    /// Loads a payload into a guest.
    ///
    /// # Errors
    /// Where it does not fit, or the vCPU is gone.
    pub fn new(mut guest: Guest, payload: &'static Payload) -> Result<Self> {
        let (image, loops) = Image::with_loops(payload)?;
        guest.load(&image)?;
        Ok(Self { guest, payload, loops })
    }

    /// Runs one of the three loops so many times.
    ///
    /// # Errors
    /// Where the payload does not return: how it ended. Where `stop` says so after a signal.
    pub fn run(&mut self, length: usize, iterations: u64, stop: &dyn Fn() -> bool) -> Result<Batch> {
        let before = self.guest.exits()?;
        self.guest.enter(self.payload.ring, self.loops[length], iterations);
        let outcome = self.guest.run(stop)?;
        let after = self.guest.exits()?;
        match outcome {
            Outcome::Done(mailbox) => Ok(Batch {
                ticks: mailbox.ticks(),
                exits: between(before, after),
            }),
            other => Err(Error::failed(format!("{}: {other}", self.payload.name))),
        }
    }

    /// Whether a batch is one of Invariant 2, so that its ticks are the payload's own.
    pub fn is_kept(&self, batch: Batch) -> bool {
        is_kept(self.payload.exits, batch.exits)
    }

    /// The payload.
    pub fn payload(&self) -> &'static Payload {
        self.payload
    }
}

fn between(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    Some(after?.saturating_sub(before?).saturating_sub(LAST_EXIT))
}

fn is_kept(expected: Exits, exits: Option<u64>) -> bool {
    match expected {
        Exits::None => exits == Some(0),
        // The exits are part of what is measured, and counted beside it.
        Exits::Each(_) | Exits::Maybe(_) => exits.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_at_the_end_is_not_between_the_stamps() {
        assert_eq!(between(Some(41), Some(42)), Some(0));
        assert_eq!(between(Some(41), Some(44)), Some(2));
        assert_eq!(between(None, Some(44)), None);
    }

    #[test]
    fn a_batch_with_an_exit_that_the_payload_does_not_make_is_rejected() {
        assert!(is_kept(Exits::None, Some(0)));
        assert!(!is_kept(Exits::None, Some(1)), "an interrupt of the host's");
        assert!(
            !is_kept(Exits::None, None),
            "a kernel that does not count cannot say that there was none"
        );
        assert!(is_kept(Exits::Each("CPUID"), Some(64)));
        assert!(!is_kept(Exits::Maybe("the APIC"), None));
    }
}
