//! Compares records with the first one, variant by variant.
//!
//! The records were not interleaved, so any change between them (kernel, neighbours, clock) is part of the difference. The noise
//! floor is the larger of the two records', and the warnings list what differs.

mod machines;

use crate::error::{Error, Result};
use crate::record::compare::{CompareExperiment, CompareReport, CompareRow, RecordHead, SCHEMA, Side};
use crate::record::{Basis, Experiment, Record, Unit, Variant, Verdict};
use crate::{record, stats};

/// Compares the labelled records with the first one.
///
/// # Errors
/// Exit 2 if no two records contain the same variant of the same experiment.
pub(crate) fn compare(labelled: &[(String, Record)], seed: u64) -> Result<CompareReport> {
    let Some((base, others)) = labelled.split_first() else {
        return Err(Error::usage("nothing to compare; give two records"));
    };
    let mut warnings = Vec::new();
    for other in others {
        warnings.extend(machines::differences(base, other));
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
        for (i, (label, record)) in others.iter().enumerate() {
            match record.experiments.iter().find(|e| e.name == ours.name) {
                Some(theirs) if theirs.unit == ours.unit => {
                    join(&mut joined, (&base.1, ours), (record, theirs), i + 1, nanos, seed)
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
        if !joined.rows.is_empty() {
            experiments.push(joined);
        }
    }
    if experiments.is_empty() {
        return Err(Error::usage(format!(
            "{} and the other records have no variant in common; `cyclewise run` the same experiments on both sides",
            base.0
        )));
    }
    judge(&mut experiments);
    let records = labelled.iter().map(|(label, record)| head(label, record)).collect();
    Ok(CompareReport {
        schema: SCHEMA.to_string(),
        records,
        warnings,
        experiments,
    })
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
fn join(
    joined: &mut CompareExperiment,
    base: (&Record, &Experiment),
    other: (&Record, &Experiment),
    index: usize,
    nanos: bool,
    seed: u64,
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
    let mut missing = Vec::new();
    for ours in &base.1.variants {
        match other.1.variants.iter().find(|v| v.name == ours.name) {
            Some(theirs) => joined
                .rows
                .extend(row((ours, scale(base.0)), (theirs, scale(other.0)), index, seed)),
            None => missing.push(ours.name.as_str()),
        }
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

fn row(base: (&Variant, f64), other: (&Variant, f64), index: usize, seed: u64) -> Option<CompareRow> {
    let scaled = |(v, scale): (&Variant, f64)| v.samples.iter().map(|s| s * scale).collect::<Vec<f64>>();
    let (base_samples, other_samples) = (scaled(base), scaled(other));
    let (b, o) = (stats::describe(&base_samples)?, stats::describe(&other_samples)?);
    let welch = stats::welch(&other_samples, &base_samples)?;
    let side = |s: &stats::Summary| Side {
        n: s.n,
        mean: s.mean,
        sd: s.sd,
        ci95: s.ci95,
    };
    let ratio = o.mean / b.mean;
    ratio.is_finite().then(|| CompareRow {
        variant: base.0.name.clone(),
        base: 0,
        other: index,
        base_stats: side(&b),
        other_stats: side(&o),
        difference: welch.difference,
        ci95: welch.ci95,
        ratio,
        ratio_ci95: stats::ratio_ci(&other_samples, &base_samples, seed).map_or([None; 2], |ci| ci.map(Some)),
        basis: Basis::default(),
        t: welch.t,
        df: welch.df,
        p: welch.p,
        p_rank: stats::mann_whitney(&other_samples, &base_samples).unwrap_or(1.0),
        p_holm: 1.0,
        verdict: Verdict::Undecided,
        reason: None,
        base_samples,
        other_samples,
    })
}

/// Holm's correction over all rows, then the verdicts.
fn judge(experiments: &mut [CompareExperiment]) {
    let p: Vec<f64> = experiments.iter().flat_map(|e| &e.rows).map(|r| r.p).collect();
    let mut corrected = stats::holm(&p).into_iter();
    for e in experiments {
        for r in &mut e.rows {
            r.p_holm = corrected.next().unwrap_or(1.0);
            r.verdict = stats::verdict(
                r.difference,
                r.base_stats.mean,
                r.p_holm,
                r.p_rank,
                record::bounds(r.ratio_ci95),
                e.floor,
                e.unit.more_is_faster(),
            );
        }
    }
}

#[cfg(test)]
mod tests;
