//! Measures the rows of a group in interleaved rounds, and enters them in the record.

use super::Suite;
use super::options::{Action, Options};
use super::pin;
use super::row::{self, Calibrated, Row, Way, Work};
use crate::error::{Error, Result, Status};
use crate::record::{Experiment, Metric, Unit, Variant};
use crate::runner::turns::Turns;
use crate::runner::{Budget, Control, Guards, Heading, Mode, Runner, SetupOf};
use crate::stats;
use crate::sys::interrupt;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A row that is measured, and what is known of it beside its samples.
struct Known {
    name: String,
    member: String,
    parameter: Option<usize>,
    allocated: Option<[f64; 2]>,
}

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
        Action::Bench if interrupt::asked() => suite.shared.miss(parts.name, None, "not begun before Ctrl-C"),
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

fn measure(suite: &mut Suite, parts: &Named<'_>, rows: Vec<Row<'_>>) {
    let Some(place) = suite.place() else { return };
    let (choice, tsc_hz) = (place.choice, place.tsc_hz);
    let name = parts.name;
    let (mut known, mut ready): (Vec<Known>, Vec<Calibrated<'_>>) = (Vec::new(), Vec::new());
    let calibrate = || {
        for row in rows {
            let full_name = format!("{name}/{}", row.name);
            match row::calibrate(row.work, &full_name, &suite.bench, tsc_hz) {
                Ok(calibrated) => {
                    known.push(Known {
                        name: row.name,
                        member: row.member,
                        parameter: row.parameter,
                        allocated: calibrated.allocated,
                    });
                    ready.push(calibrated);
                }
                Err(why) => {
                    suite.shared.miss(name, Some(&row.name), &why);
                    suite.fail(Error::check(format!("{full_name}: {why}")));
                }
            }
        }
    };
    let turns = suite.turns.clone();
    let turns = turns.as_deref();
    match turns {
        Some(turns) => {
            if let Err(error) = turns.in_turn(0, calibrate) {
                return suite.alone(name, error);
            }
        }
        None => calibrate(),
    }
    let mut ways: Vec<Way> = ready.iter().map(|row| row.way).collect();
    row::align(&mut ways);
    // All processes of a run measure alike, whatever the first calls of each took.
    for ((row, way), known) in ready.iter_mut().zip(ways).zip(&known) {
        (row.way, row.long) = suite.shared.first(&format!("{name}/{}", known.name), (way, row.long));
    }
    if let Some(turns) = turns
        && let Err(error) = agree(turns, name, &mut known, &mut ready)
    {
        return suite.alone(name, error);
    }
    if known.is_empty() {
        return;
    }
    let crowds = ready.iter().any(|row| row.way == Way::Crowd);
    let long = ready.iter().any(|row| row.long);
    let compare = compared(&known, crowds);
    let panicked = Rc::new(RefCell::new(Vec::new()));
    let mut setup = SetupOf {
        compare: compare.clone(),
        control: if long { Control::Split(0) } else { Control::Repeat(0) },
        notes: notes(&ready, choice.allowed.len()),
        ..SetupOf::default()
    };
    for (row, known) in ready.into_iter().zip(&known) {
        let names = [known.name.clone(), format!("{name}/{}", known.name)];
        let sampler = row::sampler(names, row, &mut suite.bench, &choice.allowed, Rc::clone(&panicked));
        setup.samplers.push(sampler);
    }
    let question = question(&known, &compare);
    let heading = Heading {
        name,
        question: &question,
        source: &suite.program,
        unit: if crowds { Unit::OpsPerSecond } else { Unit::TicksPerOp },
        guards: if long { Guards::WholeMachine } else { Guards::ThisThread },
    };
    let runner = Runner {
        cpu: choice.cpu,
        cpus: choice.allowed.len(),
        tsc_hz,
        seed: place.seed,
        parts: place.parts,
        turns,
        progress: &suite.bar,
    };
    let budget = budget(&suite.options, long, compare.len());
    let mut work = || runner.measure(heading, &mut setup, budget);
    let done = match long {
        true => work(),
        false => pin::pinned(&choice, pin::confine, |e| suite.warn_unpinned(e), work),
    };
    suite.bar.clear();
    // Where one of two programs ends a group by an error, the other does not know it.
    let error = done.as_ref().err().filter(|_| turns.is_some()).cloned();
    if let Some(error) = error {
        return suite.alone(name, error);
    }
    let failed = |row: &str, why: &str| {
        let status = match panicked.borrow().iter().any(|p| p == row) {
            true => Status::CheckFailed,
            false => Status::Unsupported,
        };
        suite.shared.fail(Error {
            status,
            ..Error::check(format!("{name}/{row}: {why}"))
        });
    };
    let fail = |error: Error| {
        suite.shared.miss(name, None, &error.message);
        match panicked.borrow().first() {
            Some(row) => suite.shared.fail(Error::check(format!("{name}/{row}: {error}"))),
            None => suite.shared.fail(Error {
                message: format!("{name}: {error}"),
                ..error
            }),
        }
    };
    match done {
        Ok(measured) => {
            for missing in &measured.missing {
                let row = missing.variant.as_deref().unwrap_or_default();
                suite.shared.miss(name, missing.variant.as_deref(), &missing.why);
                failed(row, &missing.why);
            }
            let interrupted = measured.interrupted;
            let complete = |e| completed(e, &known, parts.counters, tsc_hz);
            match suite.shared.add(heading, &setup, measured, complete) {
                Ok(rounds) if interrupted => {
                    let why = format!("cut short by Ctrl-C after {rounds} rounds, which are kept");
                    suite.shared.miss(name, None, &why);
                }
                Ok(_) => {}
                Err(error) => fail(error),
            }
        }
        Err(_) if interrupt::asked() => {
            let why = "cut short by Ctrl-C before its first result";
            suite.shared.miss(name, None, why);
        }
        Err(error) => fail(error),
    }
}

/// Leaves the rows that both programs have ready, in the order of the first, which decides how they are sampled.
fn agree(turns: &Turns, group: &str, known: &mut Vec<Known>, ready: &mut Vec<Calibrated<'_>>) -> Result<()> {
    let own: Vec<(String, (Way, bool))> = known
        .iter()
        .zip(&*ready)
        .map(|(known, row)| (known.name.clone(), (row.way, row.long)))
        .collect();
    let (of, other) = turns.exchange(&(group.to_string(), own.clone()))?;
    if of != group {
        return Err(Error::check(format!(
            "the other program has the group {of} in its place"
        )));
    }
    let decided = if turns.is_first() { &own } else { &other };
    let both = |name: &str| own.iter().chain(&other).filter(|(row, _)| row == name).count() == 2;
    let mut kept: Vec<(Known, Calibrated<'_>)> = Vec::new();
    for (known, mut row) in known.drain(..).zip(ready.drain(..)) {
        let first = decided.iter().find(|(name, _)| *name == known.name && both(name));
        let alike = |way: Way| (way == Way::Crowd) == (row.way == Way::Crowd);
        if let Some((_, (way, long))) = first.filter(|(_, (way, _))| alike(*way)) {
            (row.way, row.long) = (*way, *long);
            kept.push((known, row));
        }
    }
    (*known, *ready) = kept.into_iter().unzip();
    Ok(())
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
        e.growth = growth.collect();
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
