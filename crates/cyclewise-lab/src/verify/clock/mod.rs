//! Does the clock keep the order that its types promise on this machine? No reading is below one that happened before it,
//! on any pair of CPUs; errors stay within their bounds; the clock starts at once.
//!
//! Each test also runs on a clock that is read too early, which must be caught, and on a bare RDTSC, whose errors are
//! only reported.

mod histogram;
mod pair;
mod skewed;
mod soak;
mod tested;

use super::{Check, SCHEMA, Verification, no_thread};
use crate::error::Result;
use crate::sys::{affinity, interrupt};
use cyclewise::clock::{Clock, Instant as Ours, Mode, PerTask, System};
use pair::{Outcome, Pair};
use soak::{Seen, Soaked};
use std::io;
use std::thread::Builder;
use std::time::{Duration, Instant};
use tested::{Tested, told};

/// The share of the time for tests on pairs of CPUs, and its maximum; the soak takes the rest.
const PAIRS: f64 = 0.25;
const PAIRS_MOST: Duration = Duration::from_secs(30);
/// The shortest useful test on a pair of CPUs.
const LEAST: Duration = Duration::from_millis(5);
/// Tests on each pair.
const TESTS: u32 = 15;
/// The error that at most one reading in a thousand may exceed.
const ERROR_NS: u64 = 1_000;
/// A clock reads the counter within this time. Learning the counter's rate takes a millisecond.
const START: Duration = Duration::from_millis(5);

/// Verifies within about `seconds` on `cpus`; calls `step` with the share of the time that has passed and the current
/// activity.
///
/// # Errors
/// Exit 3 if no thread can be created.
pub(crate) fn verify(cpus: &[u32], seconds: Duration, mut step: impl FnMut(f64, &str)) -> Result<Verification> {
    let no_thread = |e| no_thread("clock", &e);
    let start = started();
    let begun = Instant::now();
    let (pairs, all) = pairs(cpus, seconds.mul_f64(PAIRS).min(PAIRS_MOST));
    let slice = seconds.mul_f64(PAIRS).min(PAIRS_MOST) / TESTS / pairs.len().max(1) as u32;
    let mut seen = Tested::default();
    for (i, pair) in pairs.iter().enumerate() {
        // One pair in any case, so that each check has a try.
        if i > 0 && interrupt::asked() {
            break;
        }
        let share = begun.elapsed().as_secs_f64() / seconds.as_secs_f64();
        step(share, &format!("verify clock: pair {} of {}", i + 1, pairs.len()));
        seen.test(*pair, slice.max(LEAST)).map_err(no_thread)?;
    }
    let task = task(cpus, seconds.mul_f64(0.02).min(Duration::from_secs(2))).map_err(no_thread)?;
    let spent = begun.elapsed();
    let soaked = soak::soak(seconds.saturating_sub(spent).max(LEAST), |share| {
        let whole = (spent.as_secs_f64() / seconds.as_secs_f64()).min(1.0);
        step(whole + share * (1.0 - whole), "verify clock: against CLOCK_MONOTONIC");
    })
    .map_err(no_thread)?;
    let mut checks = vec![start_check(start)];
    checks.extend(seen.checks(pairs.len(), all));
    checks.push(task_check(task));
    checks.extend(soak_checks(&soaked));
    let mut notes = seen.notes();
    notes.extend(soak_notes(&soaked));
    Ok(Verification {
        schema: SCHEMA,
        what: "clock",
        checks,
        notes,
    })
}

/// Every ordered pair, or as many as there is time for; and the number of all pairs.
fn pairs(cpus: &[u32], time: Duration) -> (Vec<Pair>, usize) {
    let of = |&a: &u32| cpus.iter().filter(move |b| **b != a).map(move |&b| [a, b]);
    let all: Vec<Pair> = cpus.iter().flat_map(of).collect();
    let fit = (time.as_secs_f64() / (LEAST * TESTS).as_secs_f64()) as usize;
    let stride = all.len().div_ceil(fit.max(1)).max(1);
    (all.iter().copied().step_by(stride).collect(), all.len())
}

/// The time of a new clock's first reading, and the time until it reads the counter: the best of five tries, to exclude
/// the scheduler's delays.
fn started() -> [Duration; 2] {
    let tries = (0..5).map(|_| {
        let clock = Clock::new(System);
        let begun = Instant::now();
        clock.now();
        let first = begun.elapsed();
        while clock.status().mode == Mode::Starting && begun.elapsed() < 20 * START {
            clock.now();
        }
        [first, begun.elapsed()]
    });
    tries.min_by_key(|[_, learnt]| *learnt).unwrap_or_default()
}

fn start_check([first, learnt]: [Duration; 2]) -> Check {
    let status = Clock::process().status();
    Check {
        name: "starts-at-once",
        promise: "a new clock works at once, and reads the counter, if it can be trusted, within 5 ms",
        seen: match status.reason {
            Some(reason) if status.mode == Mode::Kernel => {
                format!("first reading {first:.0?}; the kernel's clock: {reason}")
            }
            _ => format!("first reading {first:.0?}, the counter after {learnt:.1?}"),
        },
        tries: 5,
        events: usize::from(learnt > START),
        holds: Some(learnt <= START),
    }
}

/// A thread that is moved from CPU to CPU while it reads a per-task clock.
fn task(cpus: &[u32], time: Duration) -> io::Result<Outcome> {
    let run = || {
        let mut seen = Outcome::default();
        let (end, mut last, mut at) = (Instant::now() + time, 0, 0);
        loop {
            // If the CPU has gone offline, the thread stays where it is.
            let _ = affinity::confine(&[cpus[at % cpus.len()]]);
            at += 1;
            for _ in 0..10_000 {
                let now = Ours::<PerTask>::read().as_nanos();
                seen.compare(last, now);
                last = now;
            }
            // Checked after the readings, so that a thread delayed past `end` still reads some.
            if Instant::now() >= end || interrupt::asked() {
                break seen;
            }
        }
    };
    std::thread::scope(|scope| {
        let thread = Builder::new().spawn_scoped(scope, run)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

fn task_check(seen: Outcome) -> Check {
    Check {
        name: "task-never-back",
        promise: "per-task times of a thread that moves between CPUs never go back",
        seen: told(seen, " ns"),
        tries: seen.tries,
        events: seen.events,
        holds: Some(seen.events == 0 && seen.tries > 0),
    }
}

fn soak_checks(soaked: &Soaked) -> Vec<Check> {
    let mut checks = Vec::new();
    let names = [
        ["steady-back", "steady-bound", "steady-error"],
        ["skewed-back", "skewed-bound", "skewed-error"],
    ];
    for (seen, [back, bound, error]) in [&soaked.ours, &soaked.skewed].into_iter().zip(names) {
        checks.push(Check {
            name: back,
            promise: "compared with the kernel's clock for a long time, the clock never goes back on any thread",
            seen: told(seen.back, " ns"),
            tries: seen.back.tries,
            events: seen.back.events,
            holds: Some(seen.back.events == 0),
        });
        checks.push(Check {
            name: bound,
            promise: "no reading is further from CLOCK_MONOTONIC than its error bound",
            seen: format!("{}; bounds up to {} ns", told(seen.beyond, " ns"), seen.bound),
            tries: seen.beyond.tries,
            events: seen.beyond.events,
            holds: Some(seen.beyond.events == 0),
        });
        checks.push(error_check(error, seen));
    }
    checks
}

fn error_check(name: &'static str, seen: &Seen) -> Check {
    let quantile = |share| seen.error.quantile(share);
    Check {
        name,
        promise: "999 of 1000 readings are within 1 us of CLOCK_MONOTONIC",
        seen: format!(
            "p50 {} ns, p99.9 {} ns, max {} ns",
            quantile(0.5),
            quantile(0.999),
            seen.error.max
        ),
        tries: seen.error.total() as usize,
        events: usize::from(quantile(0.999) > ERROR_NS),
        holds: Some(quantile(0.999) <= ERROR_NS),
    }
}

fn soak_notes(soaked: &Soaked) -> Vec<String> {
    let seconds = soaked.time.as_secs_f64();
    let ppm = |ns: i64| ns as f64 / 1000.0 / seconds;
    let ours = Clock::process().status();
    let status = |s: cyclewise::clock::Status| {
        let noticed = s.reason.map_or("nothing noticed".to_string(), |r| r.to_string());
        format!("{:?}, {} anchors, {} faults ({noticed})", s.mode, s.anchors, s.faults)
    };
    vec![
        format!(
            "against CLOCK_MONOTONIC over {seconds:.0} s: quanta {} ns ({:+.3} ppm), CLOCK_MONOTONIC_RAW {} ns ({:+.3} ppm)",
            soaked.quanta_ns,
            ppm(soaked.quanta_ns),
            soaked.raw_ns,
            ppm(soaked.raw_ns)
        ),
        format!("the steady clock: {}", status(ours)),
        format!(
            "the skewed clock, whose counter alternates between 100 ppm fast and slow: {}",
            status(soaked.skewed_status)
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_ordered_and_as_many_as_there_is_time_for() {
        let time = LEAST * TESTS * 6;
        assert_eq!(pairs(&[0, 1, 2], time).0.len(), 6);
        assert_eq!(pairs(&[7], time), (vec![], 0));
        let (some, all) = pairs(&[0, 1, 2, 3, 4], time);
        assert!(some.len() <= 6 && all == 20, "{some:?}");
    }
}
