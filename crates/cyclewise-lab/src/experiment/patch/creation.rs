//! The cost of the hook that restores LOCK before a thread is created.
//!
//! Creating a thread takes tens of microseconds and varies by more than a hook costs. So in two more rows the C library
//! refuses before it does anything, called through the hook and directly: their difference is the cost of the hook.

use super::REPEATS;
use crate::error::{Error, Result};
use crate::experiment::left_out;
use crate::record::Variant;
use crate::runner::{MissingVariant, Sample, Sampler};
use crate::sys::creation::Creator;
use std::io;
use std::time::Instant;

/// Refusals in a sample: they take nanoseconds.
const REFUSALS: u32 = 20_000;

/// Rows of creation and of refusal, through the hook and directly.
pub(super) fn subjects(notes: &mut Vec<String>, missing: &mut Vec<MissingVariant>) -> Vec<Box<dyn Sampler>> {
    let mut rows: Vec<Box<dyn Sampler>> = vec![Box::new(Threads("thread-hooked", Creator::bound()))];
    let Some(behind) = Creator::behind() else {
        let names = ["thread-direct", "refused-hooked", "refused-direct"];
        left_out(
            notes,
            missing,
            &names,
            "dlsym finds no pthread_create behind this program's",
        );
        return rows;
    };
    rows.push(Box::new(Threads("thread-direct", behind)));
    match Creator::bound().refused().and_then(|()| behind.refused()) {
        Ok(()) => {
            rows.push(Box::new(Refusals("refused-hooked", Creator::bound())));
            rows.push(Box::new(Refusals("refused-direct", behind)));
        }
        Err(e) => left_out(notes, missing, &["refused-hooked", "refused-direct"], e),
    }
    rows
}

/// Nanoseconds of `pthread_create` alone, in a child process.
struct Threads(&'static str, Creator);

impl Sampler for Threads {
    fn name(&self) -> &str {
        self.0
    }

    fn sample(&mut self) -> Result<Sample> {
        let each = self.1.timed_in_child(REPEATS);
        each.map(Sample::new)
            .map_err(|e| Error::system("creating threads in a child process", &e, "raise `ulimit -u`"))
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
        let (hook, whole) = (
            mean("refused-hooked")? - mean("refused-direct")?,
            mean("thread-direct")?,
        );
        Some(format!(
            "the hook: {hook:.1} ns (refused-hooked less refused-direct), {:.2} % of a pthread_create",
            100.0 * hook / whole
        ))
    }
}
