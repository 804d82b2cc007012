//! The cost of eliding and restoring LOCK, and the number of operations that repay it.

use super::super::elided::refused;
use super::REPEATS;
use crate::arch::observe;
use crate::error::Result;
use crate::record::Variant;
use crate::runner::{Sample, Sampler};
use cyclewise::error::Refusal;
use cyclewise::patch;
use cyclewise::refs::Arc;
use std::time::Instant;

/// Clones and drops in a sample of a pair's row.
const PAIRS: u32 = 50_000;

/// The two changes, and one operation with and without LOCK.
pub(super) fn subjects() -> Vec<Box<dyn Sampler>> {
    let row = |name, each| -> Box<dyn Sampler> { Box::new(Timed { name, each }) };
    vec![
        row("elide-all", || repeated(|| timed(patch::reelide), patch::lock)),
        row("lock-all", || {
            repeated(
                || {
                    patch::reelide()?;
                    timed(patch::lock)
                },
                || Ok(()),
            )
        }),
        row("pair-locked", || Ok(pairs())),
        row("pair-elided", || {
            patch::reelide()?;
            let each = pairs();
            patch::lock()?;
            Ok(each)
        }),
    ]
}

type Nanos = f64;

struct Timed {
    name: &'static str,
    each: fn() -> std::result::Result<Nanos, Refusal>,
}

impl Sampler for Timed {
    fn name(&self) -> &str {
        self.name
    }

    fn sample(&mut self) -> Result<Sample> {
        (self.each)().map(Sample::new).map_err(refused)
    }

    fn finding(&self, all: &[Variant]) -> Option<String> {
        if self.name != "pair-elided" {
            return None;
        }
        let mean = |name: &str| all.iter().find(|v| v.name == name).map(|v| v.mean);
        break_even(
            mean("elide-all")? + mean("lock-all")?,
            mean("pair-locked")?,
            mean("pair-elided")?,
        )
    }
}

/// How many clones and drops of an Arc repay eliding and restoring LOCK once.
fn break_even(changes: Nanos, locked: Nanos, elided: Nanos) -> Option<String> {
    let saved = locked - elided;
    if saved <= 0.0 {
        return Some("break-even: none, a pair is no cheaper without LOCK here".to_string());
    }
    Some(format!(
        "break-even: eliding and restoring LOCK takes {:.1} us, a clone and drop of an Arc saves {saved:.2} ns: \
         repaid after {:.0} of them",
        changes / 1000.0,
        (changes / saved).ceil(),
    ))
}

/// The mean of the times that `each` returns; `undo` runs after each.
fn repeated(
    each: impl Fn() -> std::result::Result<Nanos, Refusal>,
    undo: impl Fn() -> std::result::Result<(), Refusal>,
) -> std::result::Result<Nanos, Refusal> {
    let mut sum = 0.0;
    for _ in 0..REPEATS {
        sum += each()?;
        undo()?;
    }
    Ok(sum / f64::from(REPEATS))
}

fn timed(change: fn() -> std::result::Result<(), Refusal>) -> std::result::Result<Nanos, Refusal> {
    let begun = Instant::now();
    change()?;
    Ok(begun.elapsed().as_nanos() as f64)
}

/// Clones and drops of an Arc.
fn pairs() -> Nanos {
    let shared = Arc::new(1u64);
    let begun = Instant::now();
    for _ in 0..PAIRS {
        let other = Arc::clone(&shared);
        observe(&raw const *other);
    }
    begun.elapsed().as_nanos() as f64 / f64::from(PAIRS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn break_even_is_what_the_changes_cost_over_what_a_pair_saves() {
        let said = break_even(250_000.0, 3.0, 0.5).unwrap();
        assert!(
            said.contains("250.0 us") && said.contains("2.50 ns") && said.contains("after 100000 of"),
            "{said}"
        );
        assert!(break_even(1.0, 1.0, 1.0).unwrap().contains("none"));
    }
}
