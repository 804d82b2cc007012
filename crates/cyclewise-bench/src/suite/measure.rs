//! Measures the rows of a group in interleaved rounds, and enters them in the record.

use super::options::{Action, Options};
use super::pin;
use super::ready::{Known, Ready, ready};
use super::row::{self, Calibrated, Panicked, Row, Way, Work};
use super::{Place, Suite};
use crate::error::{Error, Result, Status};
use crate::record::{Experiment, Metric, Unit, Variant, map_of};
use crate::runner::turns::Turns;
use crate::runner::{Budget, Control, Guards, Heading, Measurement, Mode, Runner, SetupOf};
use crate::stats;
use crate::sys::interrupt;
use std::rc::Rc;
use std::time::Duration;

/// What a group is called, and what an operation of it does so many of.
pub(super) struct Named<'p> {
    pub(super) name: &'p str,
    pub(super) counters: &'p [(String, u64)],
}

/// Lists, tries or measures a group's rows, as far as they are asked for.
pub(super) fn group(suite: &mut Suite, parts: &Named<'_>, mut rows: Vec<Row<'_>>) {
    rows.retain(|row| suite.options.asks_for(&format!("{}/{}", parts.name, row.name)));
    suite.rows += rows.len();
    let asked = rows.len();
    rows.retain(|row| !suite.shared.has_failed(parts.name, &row.name));
    // The other program may have rows that did not fail there, and has to hear of it.
    if asked == 0 || rows.is_empty() && suite.turns.is_none() {
        return;
    }
    match suite.options.action {
        Action::List => rows
            .iter()
            .for_each(|row| suite.list(format!("{}/{}", parts.name, row.name))),
        Action::Test => rows.into_iter().for_each(|row| once(suite, parts.name, row)),
        Action::Bench if suite.is_alone => {
            suite
                .shared
                .miss(parts.name, None, "not begun: the two programs no longer take turns")
        }
        Action::Bench if interrupt::asked() => {
            let why = format!("not begun before {}", interrupt::name());
            suite.shared.miss(parts.name, None, &why);
        }
        Action::Bench => measure(suite, parts, rows),
    }
}

fn once(suite: &mut Suite, group: &str, mut row: Row<'_>) {
    let name = format!("{group}/{}", row.name);
    match row::once(&mut row.work, &name) {
        Ok(_) => println!("test {name} ... ok"),
        Err(why) => {
            println!("test {name} ... FAILED");
            suite.fail(Error::check(format!("{name}: {why}")));
        }
    }
}

/// Calibrates the rows, samples them in rounds, and enters what they came to.
fn measure(suite: &mut Suite, parts: &Named<'_>, rows: Vec<Row<'_>>) {
    let name = parts.name;
    let Some(place) = suite.place() else { return };
    let turns = suite.turns.clone();
    let ready = match ready(suite, &place, turns.as_deref(), name, rows) {
        Ok(ready) if ready.is_empty() => return,
        Ok(ready) => ready,
        Err(error) => return suite.alone(name, error),
    };
    let mut prepared = prepare(suite, &place, name, ready);
    let question = question(&prepared.known, &prepared.setup.compare);
    let heading = Heading {
        name,
        question: &question,
        source: &suite.program,
        unit: prepared.unit,
        guards: prepared.guards,
    };
    let done = sample(suite, &place, turns.as_deref(), heading, &mut prepared.setup);
    suite.bar.clear();
    match done {
        // Where one of two programs ends a group by an error, the other does not know it.
        Err(error) if turns.is_some() => suite.alone(name, error),
        Err(_) if interrupt::asked() => suite.shared.miss(
            name,
            None,
            &format!("cut short by {} before its first result", interrupt::name()),
        ),
        Err(error) => fail(suite, name, &prepared.panicked, error),
        Ok(measured) => enter(suite, parts, heading, &prepared, measured, place.tsc_hz),
    }
}

/// A group that can be measured.
struct Prepared<'b> {
    known: Vec<Known>,
    setup: SetupOf<'b>,
    unit: Unit,
    guards: Guards,
    panicked: Panicked,
}

fn prepare<'b>(suite: &mut Suite, place: &Place, group: &str, ready: Vec<Ready<'b>>) -> Prepared<'b> {
    let (known, rows): (Vec<Known>, Vec<Calibrated<'b>>) = ready.into_iter().unzip();
    let crowds = rows.iter().any(|row| row.way == Way::Crowd);
    let long = rows.iter().any(|row| row.long);
    let allowed = &place.choice.allowed;
    let panicked = Panicked::default();
    let mut setup = SetupOf {
        compare: compared(&known, crowds),
        control: if long { Control::Split(0) } else { Control::Repeat(0) },
        notes: notes(&rows, allowed.len()),
        ..SetupOf::default()
    };
    for (row, known) in rows.into_iter().zip(&known) {
        let names = [known.name.clone(), format!("{group}/{}", known.name)];
        let sampler = row::sampler(names, row, &mut suite.bench, allowed, Rc::clone(&panicked));
        setup.samplers.push(sampler);
    }
    Prepared {
        known,
        setup,
        unit: if crowds { Unit::OpsPerSecond } else { Unit::TicksPerOp },
        guards: if long { Guards::WholeMachine } else { Guards::ThisThread },
        panicked,
    }
}

/// Samples the rows in rounds: short ones on the chosen CPU alone.
fn sample(
    suite: &Suite,
    place: &Place,
    turns: Option<&Turns>,
    heading: Heading<'_>,
    setup: &mut SetupOf<'_>,
) -> Result<Measurement> {
    let choice = &place.choice;
    let runner = Runner {
        cpu: choice.cpu,
        cpus: choice.allowed.len(),
        tsc_hz: place.tsc_hz,
        seed: place.seed,
        parts: place.parts,
        turns,
        progress: &suite.bar,
    };
    let long = heading.guards == Guards::WholeMachine;
    let budget = budget(&suite.options, long, setup.compare.len());
    let mut work = || runner.measure(heading, setup, budget);
    match long {
        true => work(),
        false => pin::pinned(choice, pin::confine, |e| suite.warn_unpinned(e), work),
    }
}

/// Enters what was measured in the record, and tells what is missing.
fn enter(
    suite: &Suite,
    parts: &Named<'_>,
    heading: Heading<'_>,
    prepared: &Prepared<'_>,
    measured: Measurement,
    tsc_hz: f64,
) {
    let name = parts.name;
    for missing in &measured.missing {
        let row = missing.variant.as_deref().unwrap_or_default();
        suite.shared.miss(name, missing.variant.as_deref(), &missing.why);
        let status = match prepared.panicked.borrow().iter().any(|p| p == row) {
            true => Status::CheckFailed,
            false => Status::Unsupported,
        };
        suite.shared.fail(Error {
            status,
            ..Error::check(format!("{name}/{row}: {}", missing.why))
        });
    }
    let interrupted = measured.interrupted;
    let complete = |e| completed(e, &prepared.known, parts.counters, tsc_hz);
    match suite.shared.add(heading, &prepared.setup, measured, complete) {
        Ok(rounds) if interrupted => {
            let why = format!(
                "cut short by {} after {rounds} rounds, which are kept",
                interrupt::name()
            );
            suite.shared.miss(name, None, &why);
        }
        Ok(_) => {}
        Err(error) => fail(suite, name, &prepared.panicked, error),
    }
}

/// Tells why a group has no result: the row that panicked, if one did.
fn fail(suite: &Suite, group: &str, panicked: &Panicked, error: Error) {
    suite.shared.miss(group, None, &error.message);
    suite.shared.fail(match panicked.borrow().first() {
        Some(row) => Error::check(format!("{group}/{row}: {error}")),
        None => Error {
            message: format!("{group}: {error}"),
            ..error
        },
    });
}

/// Each row with the first of the same parameter; of one function on several numbers of threads, with the first number.
fn compared(rows: &[Known], crowds: bool) -> Vec<(usize, usize)> {
    let one_function = rows.iter().all(|row| row.member == rows[0].member);
    let base = |i: usize| match crowds && one_function {
        true => 0,
        false => rows
            .iter()
            .position(|row| row.parameter == rows[i].parameter)
            .unwrap_or(i),
    };
    (0..rows.len()).map(|i| (i, base(i))).filter(|(a, b)| a != b).collect()
}

fn question(rows: &[Known], compare: &[(usize, usize)]) -> String {
    match compare.first() {
        Some(&(_, base)) => format!("How does each row compare with {}?", rows[base].name),
        None => format!("What does {} cost?", rows[0].name),
    }
}

/// What the reader should know before the figures.
fn notes(rows: &[Calibrated<'_>], cpus: usize) -> Vec<String> {
    let threads = rows.iter().filter_map(|row| match &row.work {
        Work::Crowd(_, threads) => Some(*threads),
        Work::Alone(_) => None,
    });
    let crowded = threads.max().filter(|most| *most > cpus);
    let note = crowded.map(|most| {
        let have = if cpus == 1 {
            "one CPU".to_string()
        } else {
            format!("{cpus} CPUs")
        };
        format!("{most} threads have {have}, so they take turns: those rows are about the scheduler, too")
    });
    note.into_iter().collect()
}

/// Bounds of a group's measurement.
fn budget(options: &Options, long: bool, comparisons: usize) -> Budget {
    let each = match options.mode {
        Mode::Quick => 1,
        Mode::Normal => 3,
        Mode::Full => 20,
    };
    let time = Duration::from_secs(each * comparisons.max(1) as u64);
    let budget = match long {
        true => Budget::of(options.mode, Guards::WholeMachine),
        false => Budget::of(options.mode, Guards::ThisThread),
    };
    Budget {
        time: options.time.unwrap_or(time),
        target: budget.target.min(0.01),
        ..budget
    }
}

/// The experiment with what samples do not carry: counters, allocations, and how rows grow.
fn completed(mut e: Experiment, rows: &[Known], counters: &[(String, u64)], tsc_hz: f64) -> Experiment {
    let per_second = |value: f64| match e.unit {
        Unit::OpsPerSecond => value,
        _ => tsc_hz / value,
    };
    for v in &mut e.variants {
        for (name, n) in counters {
            let rates: Vec<f64> = v.samples.iter().map(|s| *n as f64 * per_second(*s)).collect();
            if let Some(metric) = metric("1/s", rates) {
                v.metrics.insert(format!("{name}/s"), metric);
            }
        }
        let known = rows.iter().find(|row| row.name == v.name);
        if let Some([calls, bytes]) = known.and_then(|row| row.allocated) {
            let n = v.samples.len();
            for (name, unit, value) in [(ALLOCATIONS, "1", calls), (ALLOCATED, "B", bytes)] {
                if let Some(metric) = metric(unit, vec![value; n]) {
                    v.metrics.insert(name.to_string(), metric);
                }
            }
        }
    }
    if e.unit != Unit::OpsPerSecond {
        let mut members: Vec<&str> = rows.iter().map(|row| row.member.as_str()).collect();
        members.dedup();
        let growth = members.into_iter().filter_map(|member| {
            let of_member = rows.iter().filter(|row| row.member == member);
            let points = of_member.filter_map(|row| Some((row.parameter? as f64, cost(&e.variants, &row.name)?)));
            let law = stats::power_law(&points.collect::<Vec<_>>())?;
            Some((member.to_string(), law))
        });
        e.growth = map_of(growth);
    }
    e
}

/// The metric of allocations an operation.
pub(super) const ALLOCATIONS: &str = "allocations";
/// The metric of bytes allocated an operation.
pub(super) const ALLOCATED: &str = "allocated";

fn cost(variants: &[Variant], name: &str) -> Option<f64> {
    let row = variants.iter().find(|v| v.name == name)?;
    (!row.is_not_linear()).then(|| row.value().0)
}

fn metric(unit: &str, samples: Vec<f64>) -> Option<Metric> {
    let s = stats::describe(&samples)?;
    Some(Metric {
        unit: unit.to_string(),
        mean: s.mean,
        sd: s.sd,
        samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(member: &str, parameter: Option<usize>) -> Known {
        Known {
            name: parameter.map_or(member.to_string(), |n| format!("{member}/{n}")),
            member: member.to_string(),
            parameter,
            allocated: Some([2.0, 64.0]),
        }
    }

    #[test]
    fn rows_are_compared_with_the_first_of_their_parameter() {
        let plain = ["a", "b", "c"].map(|name| known(name, None));
        assert_eq!(compared(&plain, false), [(1, 0), (2, 0)]);
        let over = [
            known("a", Some(1)),
            known("a", Some(2)),
            known("b", Some(1)),
            known("b", Some(2)),
        ];
        assert_eq!(compared(&over, false), [(2, 0), (3, 1)]);
        assert_eq!(compared(&over, true), [(2, 0), (3, 1)], "two functions on threads");
        assert_eq!(compared(&over[..2], true), [(1, 0)], "one function on more threads");
        assert_eq!(compared(&over[..2], false), []);
    }

    #[test]
    fn counters_and_growth_are_made_of_the_samples() {
        let sizes = [1, 2, 4, 8];
        let rows = sizes.map(|n| known("a", Some(n)));
        let variants = sizes.map(|n| Variant {
            name: format!("a/{n}"),
            n: 2,
            median: 10.0 * n as f64,
            samples: vec![10.0 * n as f64; 2],
            ..Variant::default()
        });
        let e = Experiment {
            variants: variants.to_vec(),
            ..Experiment::default()
        };
        let e = completed(e, &rows, &[("elements".to_string(), 5)], 1e9);
        let metrics = &e.variants[1].metrics;
        assert_eq!(metrics["elements/s"].mean, 5.0 / 20.0 * 1e9);
        assert_eq!((metrics[ALLOCATIONS].mean, metrics[ALLOCATED].mean), (2.0, 64.0));
        assert!((e.growth["a"].exponent - 1.0).abs() < 1e-9);
        // The twin: three sizes have no exponent.
        let fewer = Experiment {
            variants: variants[..3].to_vec(),
            ..Experiment::default()
        };
        assert!(completed(fewer, &rows[..3], &[], 1e9).growth.is_empty());
    }

    #[test]
    fn a_group_gets_seconds_for_each_comparison() {
        let options = Options::default();
        assert_eq!(budget(&options, false, 0).time, Duration::from_secs(3));
        assert_eq!(budget(&options, false, 2).time, Duration::from_secs(6));
        let quick = Options {
            mode: Mode::Quick,
            time: Some(Duration::from_millis(5)),
            ..Options::default()
        };
        assert_eq!(budget(&quick, true, 2).time, Duration::from_millis(5));
    }
}
