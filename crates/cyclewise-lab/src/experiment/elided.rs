//! Samples with elided LOCK prefixes: single mode is entered before each sample and left after it.
//!
//! The change is not part of the sample's time. It needs the program's consent (`enable_single!` in `main`) and a single
//! thread; if it is refused, the rows are missing, and a note has the reason.

use crate::error::{Error, Result};
use crate::record::Variant;
use crate::runner::{Loops, MissingVariant, Sample, Sampler};
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

/// Makes the rows of an experiment with LOCK elided, and remembers those that could not be made.
pub(super) struct ElidedRows {
    refused: Option<Refusal>,
    missing: Vec<MissingVariant>,
}

impl ElidedRows {
    /// Asks whether LOCK can be elided here.
    pub(super) fn new() -> Self {
        Self {
            refused: available().err(),
            missing: Vec::new(),
        }
    }

    /// The row `name`, or none: then it is missing.
    pub(super) fn row(
        &mut self,
        name: &'static str,
        make: impl FnOnce() -> Box<dyn Sampler>,
    ) -> Option<Box<dyn Sampler>> {
        let made = match self.refused {
            None => elided(make).map_err(|e| (e.message, true)),
            Some(refusal) => Err((refusal.to_string(), may_pass(refusal))),
        };
        let miss = |(why, possible)| {
            self.missing.push(MissingVariant {
                name: name.to_string(),
                why: format!("LOCK cannot be elided: {why}"),
                possible,
            });
        };
        made.map_err(miss).ok()
    }

    /// Enters what is missing, each reason once among the notes.
    pub(super) fn tell(self, notes: &mut Vec<String>, missing: &mut Vec<MissingVariant>) {
        let mut whys: Vec<&str> = self.missing.iter().map(|m| &*m.why).collect();
        whys.dedup();
        for why in whys {
            let names = self.missing.iter().filter(|m| m.why == why).map(|m| &*m.name);
            notes.push(format!("{} left out: {why}", names.collect::<Vec<_>>().join(", ")));
        }
        missing.extend(self.missing);
    }
}

/// Whether the refusal comes from what this process does at the moment, and not from the machine or the build: the same
/// machine may allow it at another moment.
fn may_pass(refusal: Refusal) -> bool {
    matches!(
        refusal,
        Refusal::OtherThreads { .. }
            | Refusal::Busy
            | Refusal::Creating
            | Refusal::Unstable
            | Refusal::WrongMode
            | Refusal::UnexpectedByte { .. }
            | Refusal::NotVerified { .. }
            | Refusal::HalfWritten { .. }
            | Refusal::StillWritable { .. }
    )
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
        possible: may_pass(refusal),
        ..Error::unsupported(refusal.to_string())
    }
}

/// The note in place of rows that are left out.
pub(super) fn left_out(rows: &str, refusal: Refusal) -> String {
    format!("{rows} left out: LOCK cannot be elided: {refusal}")
}

/// Rows that need LOCK elided, as missing.
pub(super) fn missing(rows: &[&str], refusal: Refusal) -> Vec<MissingVariant> {
    let row = |name: &&str| MissingVariant {
        name: name.to_string(),
        why: format!("LOCK cannot be elided: {refusal}"),
        possible: may_pass(refusal),
    };
    rows.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::Bench;

    #[test]
    fn rows_that_cannot_be_made_are_missing_with_one_note() {
        let mut rows = ElidedRows {
            refused: Some(Refusal::OtherThreads { threads: 2 }),
            missing: Vec::new(),
        };
        for name in ["a-elided", "b-elided"] {
            assert!(rows.row(name, || unreachable!()).is_none());
        }
        let (mut notes, mut missing) = (Vec::new(), Vec::new());
        rows.tell(&mut notes, &mut missing);
        assert_eq!(notes.len(), 1);
        assert!(
            notes[0].starts_with("a-elided, b-elided left out: LOCK cannot be elided"),
            "{notes:?}"
        );
        let names: Vec<&str> = missing.iter().map(|m| &*m.name).collect();
        assert_eq!(names, ["a-elided", "b-elided"]);
        assert!(missing.iter().all(|m| m.possible), "alone, it is possible");
        assert!(!may_pass(Refusal::NoLockPrefix), "never on this architecture");
        for passing in [Refusal::Unstable, Refusal::Creating, Refusal::Busy] {
            assert!(
                may_pass(passing) && refused(passing).possible,
                "a row and an error agree"
            );
        }
    }

    #[test]
    fn a_row_that_is_refused_while_it_is_made_is_missing_too() {
        let mut rows = ElidedRows {
            refused: None,
            missing: Vec::new(),
        };
        // Tests have threads, and no consent.
        assert!(rows.row("c", || Bench::new().calls("c", || ())).is_none());
        assert_eq!(rows.missing.len(), 1);
    }
}
