//! Compares records with the first one, variant by variant.
//!
//! The records were not interleaved, so any change between them (kernel, neighbours, clock) is part of the difference. The noise
//! floor is the larger of the two records', and the warnings list what differs. [`cyclewise_bench::compare`] says what a verdict rests on.

mod fail_on;
mod machines;
mod matrix;

pub use fail_on::FailOn;

use crate::error::{Error, Result};
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, RecordHead, SCHEMA, Side};
use crate::record::{Experiment, Record, Unit, letters};
use crate::{answer, stats};
use cyclewise_bench::compare::{self as decided, Outcome, Side as Decided};

/// Compares the records with the first one.
///
/// # Errors
/// Exit 2 if no two records contain the same variant of the same experiment.
pub fn compare(records: Vec<Record>) -> Result<CompareReport> {
    let labelled: Vec<(String, Record)> = records
        .into_iter()
        .enumerate()
        .map(|(i, r)| (label(i, &r), r))
        .collect();
    let Some((base, others)) = labelled.split_first() else {
        return Err(Error::usage("nothing to compare; give two records"));
    };
    let mut warnings: Vec<String> = single_runs(&labelled).into_iter().collect();
    for other in others {
        // What is said of the base is the same for each other record.
        let new = machines::differences(base, other)
            .into_iter()
            .filter(|w| !warnings.contains(w));
        warnings.extend(new.collect::<Vec<_>>());
    }
    let nanos = others
        .iter()
        .any(|(_, o)| machines::clocks_differ(&base.1.machine, &o.machine));
    let mut experiments: Vec<CompareExperiment> = Vec::new();
    for ours in &base.1.experiments {
        let mut joined = CompareExperiment {
            name: ours.name.clone(),
            question: ours.question.clone(),
            unit: unit(ours.unit, nanos),
            floor: ours.control.as_ref().map(|c| c.floor),
            rows: Vec::new(),
            notes: Vec::new(),
        };
        let mut ranges = false;
        for (i, (label, record)) in others.iter().enumerate() {
            match record.experiments.iter().find(|e| e.name == ours.name) {
                Some(theirs) if theirs.unit == ours.unit => {
                    join(&mut joined, (&base.1, ours), (record, theirs), i + 1, nanos);
                    let tick = |record: &Record| if nanos { 1e9 / record.machine.tsc_hz } else { 1.0 };
                    let sides = ((ours, tick(&base.1)), (theirs, tick(record)));
                    let note = matrix::note(sides.0, sides.1, label, if nanos { "ns" } else { "ticks" });
                    ranges |= note.is_some();
                    joined.notes.extend(note);
                    joined.notes.extend(growth(ours, theirs, label));
                }
                Some(theirs) => warnings.push(format!(
                    "{}: not compared, because {label} is in {} and {} is in {}",
                    ours.name,
                    theirs.unit.as_str(),
                    base.0,
                    ours.unit.as_str()
                )),
                None => warnings.push(format!("{} is not in {label}", ours.name)),
            }
        }
        if !joined.rows.is_empty() || ranges {
            experiments.push(joined);
        }
    }
    if experiments.is_empty() {
        return Err(Error::usage(format!(
            "{} and the other records have no variant in common; `cyclewise run` the same experiments on both sides",
            base.0
        )));
    }
    correct(&mut experiments);
    let records = labelled.iter().map(|(label, record)| head(label, record)).collect();
    Ok(CompareReport {
        schema: SCHEMA.to_string(),
        records,
        warnings,
        experiments,
        fleet: None,
    })
}

/// How functions grow with their parameter in two experiments; `None` if they have no such function in common.
fn growth(ours: &Experiment, theirs: &Experiment, label: &str) -> Option<String> {
    let both = ours.growth.iter().filter_map(|(member, law)| {
        let (before, after) = (answer::law(law), answer::law(theirs.growth.get(member)?));
        Some(format!("{member} as {before} and {after}"))
    });
    let both: Vec<String> = both.collect();
    (!both.is_empty()).then(|| format!("growth here and in {label}: {}", both.join("; ")))
}

/// `A: AMD EPYC 9B14 (2026-11-21)`, with another letter for each record.
fn label(index: usize, record: &Record) -> String {
    let letter = letters(index);
    let cpu = match record.machine.cpu_model.trim() {
        "" => "unknown CPU",
        model => model,
    };
    let day = record.created.split('T').next().unwrap_or_default();
    format!("{letter}: {cpu} ({day})")
}

/// The warning that a record has one run, which shows no spread between runs.
fn single_runs(labelled: &[(String, Record)]) -> Option<String> {
    let single: Vec<&str> = labelled
        .iter()
        .filter(|(_, r)| r.runs.len() < 2)
        .filter_map(|(label, _)| label.split(':').next())
        .collect();
    if single.is_empty() {
        return None;
    }
    let (are, have) = if single.len() == 1 {
        ("is", "has")
    } else {
        ("are", "have")
    };
    let timed = labelled
        .iter()
        .flat_map(|(_, r)| &r.experiments)
        .all(|e| e.unit == Unit::Seconds);
    let what_measures = match timed {
        false => "`run --runs 5` measures it",
        true => "commands that one `time` is given are compared better",
    };
    Some(format!(
        "{} {are} of one run and {have} no variance between runs, so small differences are undecided; {what_measures}",
        single.join(", ")
    ))
}

fn head(label: &str, record: &Record) -> RecordHead {
    RecordHead {
        label: label.to_string(),
        created: record.created.clone(),
        tool: record.tool.clone(),
        machine: record.machine.clone(),
        seed: record.seed,
        runs: record.runs.len().max(1),
    }
}

/// Ticks of different clocks are not comparable; nanoseconds are.
fn unit(unit: Unit, nanos: bool) -> Unit {
    if nanos && unit == Unit::TicksPerOp {
        Unit::NanosPerOp
    } else {
        unit
    }
}

/// Adds a row for each variant in both records, and a note on the others.
fn join<'r>(
    joined: &mut CompareExperiment,
    base: (&'r Record, &'r Experiment),
    other: (&'r Record, &'r Experiment),
    index: usize,
    nanos: bool,
) {
    let floor = other.1.control.as_ref().map(|c| c.floor);
    // The floor needs both controls.
    joined.floor = joined.floor.zip(floor).map(|(a, b)| a.max(b));
    let scale = |record: &Record| {
        if nanos && base.1.unit == Unit::TicksPerOp {
            1e9 / record.machine.tsc_hz
        } else {
            1.0
        }
    };
    let typical = decided::typical_spread([base.1, other.1]);
    let (mut missing, mut no_ratio) = (Vec::new(), Vec::new());
    for ours in &base.1.variants {
        let Some(theirs) = other.1.variants.iter().find(|v| v.name == ours.name) else {
            missing.push(ours.name.as_str());
            continue;
        };
        let side = |(record, experiment): (&'r Record, &'r Experiment), variant| Decided {
            record,
            experiment,
            variant,
            scale: scale(record),
            length: None,
        };
        match row(side(base, ours), side(other, theirs), index, typical, joined.floor) {
            Some(row) => joined.rows.push(row),
            None => no_ratio.push(ours.name.as_str()),
        }
    }
    if !no_ratio.is_empty() {
        joined.notes.push(format!(
            "not compared, because a median is 0 or there are fewer than two samples, so that there is no ratio: {}",
            no_ratio.join(", ")
        ));
    }
    missing.extend(
        other
            .1
            .variants
            .iter()
            .map(|v| v.name.as_str())
            .filter(|name| base.1.variants.iter().all(|v| v.name != *name)),
    );
    if !missing.is_empty() {
        joined
            .notes
            .push(format!("not compared, in one record only: {}", missing.join(", ")));
    }
}

fn row(
    base: Decided<'_>,
    other: Decided<'_>,
    index: usize,
    typical: Option<f64>,
    floor: Option<f64>,
) -> Option<CompareRow> {
    let mut decided = decided::decide(base, other, typical, floor);
    if !decided.lengths.is_empty() {
        contradict(&mut decided, base, other);
    }
    let scaled = |side: Decided<'_>| -> Vec<f64> {
        let samples = match decided.length {
            Some(length) => side.variant.per_copy(length),
            None => side.variant.samples.clone(),
        };
        samples.into_iter().map(|s| s * side.scale).collect()
    };
    let (base_samples, other_samples) = (scaled(base), scaled(other));
    let (b, o) = (stats::describe(&base_samples)?, stats::describe(&other_samples)?);
    let welch = stats::welch(&other_samples, &base_samples)?;
    let side = |s: &stats::Summary| Side {
        n: s.n,
        mean: s.mean,
        sd: s.sd,
        ci95: s.ci95,
    };
    decided.ratio.is_finite().then(|| CompareRow {
        variant: base.variant.name.clone(),
        base: 0,
        other: index,
        base_stats: side(&b),
        other_stats: side(&o),
        difference: welch.difference,
        ci95: welch.ci95,
        ratio: decided.ratio,
        ratio_ci95: decided.ratio_ci95,
        lengths: decided.lengths,
        basis: decided.basis,
        t: welch.t,
        df: welch.df,
        p: welch.p,
        p_rank: stats::mann_whitney(&other_samples, &base_samples).unwrap_or(1.0),
        p_holm: 1.0,
        verdict: decided.verdict,
        reason: decided.reason,
        base_samples,
        other_samples,
    })
}

/// Takes a verdict back that what the row adds among other instructions, where both records have that, does not agree with.
fn contradict(outcome: &mut Outcome, base: Decided<'_>, other: Decided<'_>) {
    let row = [base.experiment.name.as_str(), base.variant.name.as_str()];
    let Some(among) = matrix::among((base.record, base.scale), (other.record, other.scale), row) else {
        return;
    };
    let held = among.hold(stats::Decision {
        verdict: outcome.verdict,
        reason: outcome.reason.take(),
        tests: Vec::new(),
    });
    (outcome.verdict, outcome.reason) = (held.verdict, held.reason);
}

/// Holm's correction of Welch's p over all rows.
fn correct(experiments: &mut [CompareExperiment]) {
    let p: Vec<f64> = experiments.iter().flat_map(|e| &e.rows).map(|r| r.p).collect();
    let mut corrected = stats::holm(&p).into_iter();
    for r in experiments.iter_mut().flat_map(|e| &mut e.rows) {
        r.p_holm = corrected.next().unwrap_or(1.0);
    }
}

#[cfg(test)]
mod tests;
