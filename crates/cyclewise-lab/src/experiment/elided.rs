//! Samples with elided LOCK prefixes: single mode is entered before each sample and left after it.
//!
//! The change is not part of the sample's time. It needs the program's consent (`enable_single!` in `main`) and a single
//! thread; if it is refused, the rows are left out and a note has the reason.

use crate::error::{Error, Result};
use crate::record::Variant;
use crate::runner::{Loops, Sample, Sampler};
use cyclewise::error::Refusal;
use cyclewise::patch;
use std::sync::OnceLock;

static CONSENT: OnceLock<std::result::Result<(), Refusal>> = OnceLock::new();

/// Stores the outcome of opting in to single mode, for the notes of rows that are left out.
pub(crate) fn consent(outcome: std::result::Result<(), Refusal>) {
    // A second call has no effect.
    let _ = CONSENT.set(outcome);
}

/// Whether LOCK can be elided here: elides and restores it.
///
/// # Errors
/// The refusal.
pub(super) fn available() -> std::result::Result<(), Refusal> {
    CONSENT.get().copied().unwrap_or(Err(Refusal::NotEnabled))?;
    patch::reelide()?;
    patch::lock()
}

/// Makes a row while LOCK is elided, so that its batch length fits, and samples it with LOCK elided.
///
/// # Errors
/// Exit 3 if LOCK cannot be elided or restored.
pub(super) fn elided(make: impl FnOnce() -> Box<dyn Sampler>) -> Result<Box<dyn Sampler>> {
    patch::reelide().map_err(refused)?;
    let subject = make();
    patch::lock().map_err(refused)?;
    Ok(Box::new(Elided { subject, stuck: false }))
}

struct Elided {
    subject: Box<dyn Sampler>,
    /// LOCK could not be restored.
    stuck: bool,
}

impl Sampler for Elided {
    fn name(&self) -> &str {
        self.subject.name()
    }

    fn code_bytes(&self) -> Option<u32> {
        self.subject.code_bytes()
    }

    fn loops(&self) -> Option<Loops> {
        self.subject.loops()
    }

    fn finding(&self, all: &[Variant]) -> Option<String> {
        self.subject.finding(all)
    }

    /// Without LOCK, the others would not measure what they are named after.
    fn spoils_the_others(&self) -> bool {
        self.stuck
    }

    fn sample(&mut self) -> Result<Sample> {
        patch::reelide().map_err(refused)?;
        let sample = self.subject.sample();
        patch::lock().map_err(|refusal| {
            self.stuck = true;
            refused(refusal)
        })?;
        sample
    }
}

/// A refusal as the command's error.
pub(super) fn refused(refusal: Refusal) -> Error {
    Error {
        possible: is_passing(refusal),
        ..Error::unsupported(refusal.to_string())
    }
}

/// Whether the refusal comes from what this process does at the moment, and not from the machine or the build.
pub(super) fn is_passing(refusal: Refusal) -> bool {
    matches!(
        refusal,
        Refusal::OtherThreads { .. }
            | Refusal::Busy
            | Refusal::UnexpectedByte { .. }
            | Refusal::NotVerified { .. }
            | Refusal::HalfWritten { .. }
            | Refusal::StillWritable { .. }
    )
}

/// The note in place of rows that are left out.
pub(super) fn left_out(rows: &str, refusal: Refusal) -> String {
    format!("{rows} left out: LOCK cannot be elided: {refusal}")
}
