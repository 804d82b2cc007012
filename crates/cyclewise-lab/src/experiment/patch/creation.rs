//! The cost of the hook that restores LOCK before a thread is created.
//!
//! Creating a thread takes tens of microseconds and varies by more than a hook costs. So the C library is asked for a thread that
//! it refuses before it does anything, through the hook and directly: the difference is the cost of the hook.

use crate::error::{Error, Result};
use crate::experiment::left_out;
use crate::record::Variant;
use crate::runner::{MissingVariant, Sample, Sampler};
use crate::sys::creation::Creator;
use std::io;
use std::time::Instant;

/// Refusals in a sample: they take nanoseconds.
const REFUSALS: u32 = 20_000;

/// Rows of refusal, through the hook and directly.
pub(super) fn subjects(notes: &mut Vec<String>, missing: &mut Vec<MissingVariant>) -> Vec<Box<dyn Sampler>> {
    let bound = Creator::bound();
    let both = Creator::behind().and_then(|behind| {
        bound.refused()?;
        behind.refused()?;
        Ok([Refusals("refused-hooked", bound), Refusals("refused-direct", behind)])
    });
    match both {
        Ok(rows) => rows.map(|row| Box::new(row) as Box<dyn Sampler>).into(),
        Err(e) => {
            left_out(notes, missing, &["refused-hooked", "refused-direct"], e);
            Vec::new()
        }
    }
}

/// Nanoseconds of a `pthread_create` that is refused.
struct Refusals(&'static str, Creator);

impl Sampler for Refusals {
    fn name(&self) -> &str {
        self.0
    }

    fn sample(&mut self) -> Result<Sample> {
        let refused = |e: io::Error| {
            Error::system(
                "pthread_create with arguments that it must refuse",
                &e,
                "please report this",
            )
        };
        let begun = Instant::now();
        for _ in 0..REFUSALS {
            self.1.refused().map_err(refused)?;
        }
        Ok(Sample::new(begun.elapsed().as_nanos() as f64 / f64::from(REFUSALS)))
    }

    fn finding(&self, all: &[Variant]) -> Option<String> {
        if self.0 != "refused-direct" {
            return None;
        }
        let mean = |name: &str| all.iter().find(|v| v.name == name).map(|v| v.mean);
        let hook = mean("refused-hooked")? - mean("refused-direct")?;
        Some(format!("the hook: {hook:.1} ns (refused-hooked less refused-direct)"))
    }
}
