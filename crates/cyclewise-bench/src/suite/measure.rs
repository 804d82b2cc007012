//! Measures the rows of a group in interleaved rounds, and enters them in the record.

use super::Suite;
use super::options::{Action, Options};
use super::ready::{Known, ready};
use super::row::{self, Calibrated, Panicked, Row, Way, Work};
use crate::record::{ALLOCATED, ALLOCATIONS, Experiment, Metric, Unit, Variant, map_of};
use crate::runner::{Budget, Control, Guards, Heading, Mode, SetupOf};
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
        Action::Test => rows.into_iter().for_each(|mut row| {
            let name = format!("{}/{}", parts.name, row.name);
            suite.tried(&name, row::once(&mut row.work, &name));
        }),
        Action::Bench if suite.is_alone => {
            suite
                .shared
                .miss(parts.name, None, "not begun: the two programs no longer take turns")
        }
        Action::Bench if interrupt::asked() => suite.not_begun(parts.name),
        Action::Bench => measure(suite, parts, rows),
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
    let panicked = Panicked::default();
    let (known, rows): (Vec<Known>, Vec<Calibrated<'_>>) = ready.into_iter().unzip();
    let crowds = rows.iter().any(|row| row.way == Way::Crowd);
    let long = rows.iter().any(|row| row.long);
    let mut setup = SetupOf {
        compare: compared(&known, crowds),
        control: if long { Control::Split(0) } else { Control::Repeat(0) },
        notes: notes(&rows, place.choice.allowed.len()),
        ..SetupOf::default()
    };
    for (row, known) in rows.into_iter().zip(&known) {
        let inner = row::sampler(known.name.clone(), row, &mut suite.bench, &place.choice.allowed);
        setup.samplers.push(row::guarded(name, inner, Rc::clone(&panicked)));
    }
    let heading = Heading {
        name,
        question: &question(&known, &setup.compare),
        source: &suite.program,
        unit: if crowds { Unit::OpsPerSecond } else { Unit::TicksPerOp },
        guards: if long { Guards::WholeMachine } else { Guards::ThisThread },
    };
    let budget = budget(&suite.options, heading.guards, setup.compare.len());
    let runner = suite.runner(&place, turns.as_deref());
    let complete = |e| completed(e, &known, parts.counters, place.tsc_hz);
    match suite.at(&place, heading.guards, || runner.measure(heading, &mut setup, budget)) {
        Ok(measured) => suite.enter(heading, &setup, measured, &panicked, complete),
        // Where one of two programs ends a group by an error, the other does not know it.
        Err(error) if turns.is_some() => suite.alone(name, error),
        Err(error) => suite.failed(name, &panicked, error),
    }
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
        Some(&(_, base)) => format!("How does each variant compare with {}?", rows[base].name),
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
        format!("{most} threads have {have}, so they take turns: those variants are about the scheduler, too")
    });
    note.into_iter().collect()
}

/// Bounds of a group's measurement.
fn budget(options: &Options, guards: Guards, comparisons: usize) -> Budget {
    let each = match options.mode {
        Mode::Quick => 1,
        Mode::Normal => 3,
        Mode::Full => 20,
    };
    let time = Duration::from_secs(each * comparisons.max(1) as u64);
    let budget = Budget::of_mode(options.mode, guards);
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
        assert_eq!(budget(&options, Guards::ThisThread, 0).time, Duration::from_secs(3));
        assert_eq!(budget(&options, Guards::ThisThread, 2).time, Duration::from_secs(6));
        let quick = Options {
            mode: Mode::Quick,
            time: Some(Duration::from_millis(5)),
            ..Options::default()
        };
        assert_eq!(budget(&quick, Guards::WholeMachine, 2).time, Duration::from_millis(5));
    }
}
