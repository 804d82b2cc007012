//! Can you trust the measurements? A variant compared with itself must not differ more often than p says, nor less often,
//! and a difference of 1 % must be found: on a chain that nothing disturbs, on a throughput body, and on calls with a
//! read-modify-write.
//!
//! Each hunt for the 1 % is a separate measurement: new memory, new batch lengths, another seed. A measurement of a body with
//! itself has six columns of it, and three comparisons of two different ones. Counts are uncertain:
//!
//! | a promise | rule |
//! |---|---|
//! | is broken | the 99 % Clopper–Pearson interval of the share lies outside the promised range, on either side |
//! | holds | the share lies inside, of tries that could have broken it; of hunts, at least [`ENOUGH_HUNTS`] |
//! | is not shown | neither: the share lies outside and its interval does not, or there were too few tries |

use super::{Check, SCHEMA, Verification};
use crate::arch::{Body, entry};
use crate::error::Result;
use crate::record::{Comparison, Experiment, Record, Unit, Verdict};
use crate::runner::{self, Bench, Budget, Control, Guards, Heading, Runner, Setup};
use crate::stats;
use crate::sys::interrupt;
use std::time::{Duration, Instant};

/// The most A/A comparisons.
const COMPARISONS: usize = 900;
/// Columns of one body in an A/A measurement; each comparison is of two of its own.
const COLUMNS: usize = 6;
/// The most runs that look for the one percent in one pair of bodies.
const HUNTS: usize = 10;
/// The most, where some are lost and others may make up for them.
const MOST_HUNTS: usize = 4 * HUNTS;
/// The fewest: of two, even none that is found does not exclude a share of nine in ten.
const FEWEST_HUNTS: usize = 3;
/// The fewest that show a share of nine in ten: a lab that finds every second one finds all of eight in 1 of 256 cases.
const ENOUGH_HUNTS: usize = 8;
/// The time limit of such a run.
const HUNT: Duration = Duration::from_millis(900);
/// Time of one A/A measurement.
const SELF_COMPARISON: Duration = Duration::from_millis(250);
/// The deciding p is under 0.05 in up to 5 % of A/A comparisons, and in fewer because counts are whole numbers.
const SMALL_P: [f64; 2] = [0.02, 0.07];
/// A/A comparisons that may get a verdict.
const FALSE_VERDICTS: f64 = 0.02;
/// The share of runs that must find the one percent.
const FOUND: f64 = 0.9;

/// Pairs of bodies, the first exactly 1 % more of the same work than the second, with the name of the check.
const HUNTED: [(&str, &str, [Body; 2]); 3] = [
    (
        "one-percent-of-a-chain-is-found",
        "a chain of adds made exactly 1 % longer gets the verdict slower in at least 9 of 10 runs of at most 1 s",
        [entry::ADDS_101, entry::ADDS_100],
    ),
    (
        "one-percent-of-throughput-is-found",
        "independent chains of adds made exactly 1 % longer get the verdict slower in at least 9 of 10 runs of at most 1 s",
        [entry::CHAINS_101, entry::CHAINS_100],
    ),
    (
        "one-percent-of-rmw-calls-is-found",
        "calls with a read-modify-write, exactly 1 % more of them, get the verdict slower in at least 9 of 10 runs of at \
         most 1 s",
        [entry::RMW_CALLS_101, entry::RMW_CALLS_100],
    ),
];

#[cfg(target_arch = "x86_64")]
fn subject() -> Body {
    crate::arch::lock_prefix::LOCK_INC64
}

#[cfg(not(target_arch = "x86_64"))]
fn subject() -> Body {
    entry::FUNCTION_CALL
}

/// Verifies within about `time`, at most half of it looking for one percent; longer where three hunts need it.
///
/// # Errors
/// If this machine is too noisy to keep two samples of a variant.
pub(crate) fn verify(runner: &Runner<'_>, time: Duration) -> Result<Verification> {
    let begun = Instant::now();
    let mut found = [0; HUNTED.len()];
    let mut hunts = 0;
    let open = |found: &[usize], hunts| found.iter().any(|found| found_holds(*found, hunts).is_none());
    while (hunts < HUNTS || hunts < MOST_HUNTS && open(&found, hunts))
        && !interrupt::asked()
        && (hunts < FEWEST_HUNTS || begun.elapsed() < time / 2)
    {
        for (count, (_, _, bodies)) in found.iter_mut().zip(HUNTED) {
            let comparisons = unless_interrupted(compare(runner, hunts as u64, &bodies, HUNT))?;
            *count += comparisons.iter().filter(|c| c.verdict == Verdict::Slower).count();
        }
        // A hunt that a signal cut short says nothing.
        if interrupt::asked() {
            break;
        }
        hunts += 1;
        runner.progress.step(
            (hunts as f64 / HUNTS as f64).min(1.0) / 2.0,
            &format!("verify lab: looking for one percent, {hunts}"),
        );
    }
    let (mut small, mut verdicts, mut n, mut seed) = (0, 0, 0, 1_000);
    while n < COMPARISONS && !interrupt::asked() && (seed == 1_000 || begun.elapsed() < time) {
        for c in unless_interrupted(compare(runner, seed, &[subject(); COLUMNS], SELF_COMPARISON))? {
            // Without an interval there is no p.
            let Some(headline) = c.headline.filter(|h| h.ci95[0].is_some()) else {
                continue;
            };
            small += usize::from(headline.p < 0.05);
            verdicts += usize::from(c.verdict.is_claim());
            n += 1;
        }
        seed += 1;
        runner.progress.step(
            (begun.elapsed().as_secs_f64() / time.as_secs_f64()).min(1.0),
            &format!("verify lab: A/A comparison {n}"),
        );
    }
    let mut checks: Vec<Check> = HUNTED
        .into_iter()
        .zip(found)
        .map(|((name, promise, _), found)| found_check(name, promise, found, hunts))
        .collect();
    checks.push(small_p(small, n));
    checks.push(false_verdicts(verdicts, n));
    Ok(Verification {
        schema: SCHEMA,
        what: "lab",
        checks,
        notes: Vec::new(),
    })
}

/// What was compared, and nothing where a signal has ended that.
fn unless_interrupted(compared: Result<Vec<Comparison>>) -> Result<Vec<Comparison>> {
    match compared {
        Err(_) if interrupt::asked() => Ok(Vec::new()),
        compared => compared,
    }
}

fn found_check(name: &'static str, promise: &'static str, found: usize, hunts: usize) -> Check {
    let holds = found_holds(found, hunts);
    Check {
        name,
        promise,
        seen: format!("{found} of {hunts}{}", why_not_shown(holds, hunts)),
        tries: hunts,
        events: found,
        holds,
    }
}

fn found_holds(found: usize, hunts: usize) -> Option<bool> {
    holds(found, hunts, [FOUND, 1.0]).filter(|holds| !holds || hunts >= ENOUGH_HUNTS)
}

fn small_p(small: usize, n: usize) -> Check {
    let holds = holds(small, n, SMALL_P);
    Check {
        name: "a-a-p-is-honest",
        promise: "the deciding p is under 0.05 in 2 to 7 % of comparisons of a variant with itself",
        seen: format!("{small} of {n} ({}){}", percent(small, n), why_not_shown(holds, n)),
        tries: n,
        events: small,
        holds,
    }
}

fn false_verdicts(verdicts: usize, n: usize) -> Check {
    let holds = holds(verdicts, n, [0.0, FALSE_VERDICTS]);
    Check {
        name: "a-a-gets-no-verdict",
        promise: "at most 2 % of comparisons of a variant with itself say faster or slower",
        seen: format!(
            "{verdicts} of {n} ({}){}",
            percent(verdicts, n),
            why_not_shown(holds, n)
        ),
        tries: n,
        events: verdicts,
        holds,
    }
}

/// Whether a share lies in the promised range; `None`: that is not shown.
fn holds(events: usize, tries: usize, [least, most]: [f64; 2]) -> Option<bool> {
    let interval = |events| stats::share_interval(events, tries, 0.99);
    let is_outside = |[low, high]: [f64; 2]| high < least || low > most;
    if is_outside(interval(events)) {
        return Some(false);
    }
    let share = events as f64 / tries as f64;
    let could_break = is_outside(interval(0)) || is_outside(interval(tries));
    ((least..=most).contains(&share) && could_break).then_some(true)
}

/// What to add where a promise is neither kept nor broken.
fn why_not_shown(holds: Option<bool>, tries: usize) -> &'static str {
    match (holds, tries) {
        (None, 0) => ", nothing could be compared: this machine is too noisy, or the time too short",
        (None, _) => ", too few tries to tell",
        _ => "",
    }
}

fn percent(events: usize, n: usize) -> String {
    format!("{:.1} %", 100.0 * events as f64 / n.max(1) as f64)
}

/// One separate measurement with an A/A control, as in every experiment: the first body with the second, the third with the
/// fourth, and so on, each comparison judged as if it were a record's only one.
fn compare(runner: &Runner<'_>, seed: u64, bodies: &[Body], time: Duration) -> Result<Vec<Comparison>> {
    let mut bench = Bench::new();
    let mut setup = Setup {
        samplers: bodies.iter().map(|b| bench.body(*b)).collect(),
        compare: (0..bodies.len() / 2).map(|i| (2 * i, 2 * i + 1)).collect(),
        control: Control::Repeat(1),
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
    let experiment = runner::conclude(heading, &setup, &measured, seed)?;
    Ok(experiment.comparisons.iter().map(|c| judge(&experiment, c)).collect())
}

/// Judges one comparison as the only one of a record: verdicts are given to records.
fn judge(experiment: &Experiment, comparison: &Comparison) -> Comparison {
    let mut record = Record {
        experiments: vec![Experiment {
            comparisons: vec![comparison.clone()],
            ..experiment.clone()
        }],
        ..Record::default()
    };
    runner::give_verdicts(&mut record);
    record.experiments.remove(0).comparisons.remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: Option<bool> = Some(true);
    const BROKEN: Option<bool> = Some(false);

    #[test]
    fn a_share_of_small_p_outside_its_range_fails_on_either_side() {
        assert_eq!([small_p(20, 500).holds, small_p(8, 200).holds], [SHOWN; 2]);
        assert_eq!(small_p(0, 500).holds, BROKEN, "a p that is never small is no p");
        assert_eq!(small_p(60, 500).holds, BROKEN);
        // Too few tries to tell.
        assert_eq!([small_p(0, 50).holds, small_p(2, 5).holds], [None; 2]);
        assert!(small_p(0, 50).seen.contains("too few tries") && !small_p(20, 500).seen.contains("too few"));
    }

    #[test]
    fn chance_alone_breaks_no_promise_and_a_blind_lab_does() {
        let check = |found, hunts| found_check("", "", found, hunts).holds;
        assert_eq!([check(10, 10), check(9, 10), check(8, 8)], [SHOWN; 3]);
        // Four of eight are not nine of ten, and do not exclude them either; seven of seven are too few.
        assert_eq!([check(4, 8), check(7, 10), check(7, 7), check(2, 2)], [None; 4]);
        assert_eq!([check(3, 8), check(3, 10), check(0, FEWEST_HUNTS)], [BROKEN; 3]);
        assert_says!(found_check("", "", 4, 8).seen, "4 of 8, too few tries to tell");
        for nothing in [found_check("", "", 0, 0), small_p(0, 0), false_verdicts(0, 0)] {
            assert!(nothing.holds.is_none() && nothing.seen.contains("nothing could be compared"));
        }
        assert_eq!([8, 12, 40].map(|n| false_verdicts(n, 500).holds), [SHOWN, None, BROKEN]);
    }
}
