//! Can you trust the measurements? A variant compared with itself must not differ, and a difference of 1 % must be found.
//!
//! Each try is a separate measurement: new memory, new batch lengths, another seed. Counts are uncertain, so a promise
//! is broken only if the 99 % Clopper–Pearson interval of the share lies outside the promised range.

use super::{Check, SCHEMA, Verification};
use crate::arch::{Body, entry};
use crate::error::Result;
use crate::record::{Comparison, Experiment, Machine, Record, Tool, Unit, Verdict};
use crate::runner::{self, Bench, Budget, Control, Guards, Heading, Runner, Setup};
use crate::stats;
use std::time::{Duration, Instant};

/// The most A/A comparisons.
const COMPARISONS: usize = 200;
/// The most runs that look for the one percent.
const HUNTS: usize = 10;
/// The time limit of such a run.
const HUNT: Duration = Duration::from_millis(900);
/// Time of one A/A comparison.
const SELF_COMPARISON: Duration = Duration::from_millis(250);
/// Welch's p is under 0.05 in 5 % of A/A comparisons; the share must lie in this range.
const SMALL_P: [f64; 2] = [0.02, 0.09];
/// A/A comparisons that may get a verdict.
const FALSE_VERDICTS: f64 = 0.02;
/// The share of runs that must find the one percent.
const FOUND: f64 = 0.9;

#[cfg(target_arch = "x86_64")]
fn subject() -> Body {
    crate::arch::lock_prefix::LOCK_INC64
}

#[cfg(not(target_arch = "x86_64"))]
fn subject() -> Body {
    entry::FUNCTION_CALL
}

/// Verifies within about `time`, at most a quarter of it looking for one percent.
///
/// # Errors
/// If this machine is too noisy to keep two samples of a variant.
pub(crate) fn verify(runner: &Runner<'_>, time: Duration) -> Result<Verification> {
    let begun = Instant::now();
    let mut found = 0;
    let mut hunts = 0;
    while hunts < HUNTS && (hunts == 0 || begun.elapsed() < time / 4) {
        let c = compare(runner, hunts as u64, [entry::ADDS_101, entry::ADDS_100], HUNT)?;
        found += usize::from(c.verdict == Verdict::Slower);
        hunts += 1;
    }
    let (mut small, mut verdicts, mut n) = (0, 0, 0);
    while n < COMPARISONS && (n == 0 || begun.elapsed() < time) {
        let c = compare(runner, 1_000 + n as u64, [subject(); 2], SELF_COMPARISON)?;
        small += usize::from(c.p < 0.05);
        verdicts += usize::from(c.verdict.is_claim());
        n += 1;
        runner.progress.step(
            n as f64 / COMPARISONS as f64,
            &format!("verify lab: A/A comparison {n}"),
        );
    }
    Ok(Verification {
        schema: SCHEMA,
        what: "lab",
        checks: vec![
            found_check(found, hunts),
            small_p(small, n),
            false_verdicts(verdicts, n),
        ],
        notes: Vec::new(),
    })
}

fn found_check(found: usize, hunts: usize) -> Check {
    Check {
        name: "one-percent-is-found",
        promise: "a body made exactly 1 % slower gets the verdict slower in at least 9 of 10 runs of at most 1 s",
        seen: format!("{found} of {hunts}"),
        tries: hunts,
        events: found,
        holds: stats::share_interval(found, hunts, 0.99)[1] >= FOUND,
    }
}

fn small_p(small: usize, n: usize) -> Check {
    let [low, high] = stats::share_interval(small, n, 0.99);
    Check {
        name: "a-a-p-is-honest",
        promise: "Welch's p is under 0.05 in 2 to 9 % of comparisons of a variant with itself",
        seen: format!("{small} of {n} ({:.1} %)", 100.0 * small as f64 / n as f64),
        tries: n,
        events: small,
        holds: high >= SMALL_P[0] && low <= SMALL_P[1],
    }
}

fn false_verdicts(verdicts: usize, n: usize) -> Check {
    Check {
        name: "a-a-is-indistinguishable",
        promise: "at most 2 % of comparisons of a variant with itself get a verdict other than indistinguishable",
        seen: format!("{verdicts} of {n} ({:.1} %)", 100.0 * verdicts as f64 / n as f64),
        tries: n,
        events: verdicts,
        holds: stats::share_interval(verdicts, n, 0.99)[0] <= FALSE_VERDICTS,
    }
}

/// One separate measurement with an A/A control, as in every experiment; the verdict is on the first body.
fn compare(runner: &Runner<'_>, seed: u64, bodies: [Body; 2], time: Duration) -> Result<Comparison> {
    let mut bench = Bench::new();
    let mut setup = Setup {
        samplers: bodies.into_iter().map(|b| bench.body(b)).collect(),
        compare: vec![(0, 1)],
        control: Control::Repeat(1),
        notes: Vec::new(),
        ..Setup::default()
    };
    let heading = Heading {
        name: "verify",
        question: "",
        source: "",
        unit: Unit::TicksPerOp,
        guards: Guards::ThisThread,
    };
    let budget = Budget {
        least: 100,
        most: 300,
        target: 0.001,
        time,
    };
    let seeded = Runner { seed, ..*runner };
    let measured = seeded.measure(heading, &mut setup, budget)?;
    let mut record = alone(runner::conclude(heading, &setup, &measured, seed)?);
    runner::give_verdicts(&mut record);
    Ok(record.experiments.remove(0).comparisons.remove(0))
}

/// A record of one experiment: verdicts are given to records.
fn alone(experiment: Experiment) -> Record {
    Record {
        schema: crate::record::SCHEMA.to_string(),
        created: String::new(),
        tool: Tool {
            version: String::new(),
            commit: None,
        },
        seed: 0,
        command: Vec::new(),
        machine: Machine::default(),
        experiments: vec![experiment],
        ..Record::default()
    }
}
