//! From a record to a fleet's member.

use super::skim::{Skim, SkimExperiment, SkimRun};
use super::{Fault, Member, Names, ProblemKind, Row, digest};
use std::collections::{HashMap, HashSet};

/// The most rows of a record: a full run has about 300.
const ROWS: usize = 10_000;
/// The longest name of a node, an experiment or a variant, in bytes: variants of `time` are whole commands.
const NAME: usize = 4096;
/// The most bytes of a record's names: those of a full run have 10 kB.
const NAMES: usize = 256 << 10;
/// The figures that a record may have, in any unit. What is no cost, such as zero, is left out later.
const FIGURES: std::ops::RangeInclusive<f64> = 1e-15..=1e15;

/// The median of each row of a run.
type Medians<'a> = HashMap<(&'a str, &'a str), f64>;

/// The member that a record's text is; `file` is its name below the folder.
pub(super) fn from_skim(file: &str, record: Skim, names: &Names) -> Result<Member, Fault> {
    check(&record)?;
    let digest = digest::of_figures(&record);
    let medians: Vec<Medians> = record.runs.iter().map(medians).collect();
    let rows = record.experiments.into_iter().flat_map(|e| rows(e, &medians, names));
    let mut machine = record.machine;
    machine.identity.node = machine.identity.node.filter(|node| !node.is_empty());
    let mut member = Member {
        file: file.to_owned(),
        digest,
        created: record.created,
        tool: record.tool,
        command: record.command,
        machine,
        runs: medians.len().max(1),
        rows: rows.collect(),
        missing: record.missing,
    };
    // A fleet has millions of rows: what they grew into must not stay.
    member.rows.shrink_to_fit();
    for row in &mut member.rows {
        row.runs.shrink_to_fit();
    }
    check_figures(&member.rows)?;
    Ok(member)
}

/// Checks a member that was written to a joined file, which may have been changed since, as if it came from its record.
pub(super) fn again(member: &Member) -> Result<(), Fault> {
    check_created(&member.created)?;
    let rows = &member.rows;
    let named = rows.iter().flat_map(|row| [&*row.experiment, &*row.variant]);
    check_names(rows.len(), named, member.machine.identity.node.as_deref())?;
    let mut seen = HashSet::new();
    if let Some(row) = rows.iter().find(|row| !seen.insert((&row.experiment, &row.variant))) {
        let (experiment, variant) = (short(&row.experiment), short(&row.variant));
        return mangled(format!("has {experiment}/{variant} twice"));
    }
    check_figures(rows)
}

fn medians(run: &SkimRun) -> Medians<'_> {
    run.medians.iter().map(|(e, v, m)| ((&**e, &**v), *m)).collect()
}

fn rows(e: SkimExperiment, runs: &[Medians], names: &Names) -> Vec<Row> {
    let experiment = names.shared(&e.name);
    let row = |v: super::skim::SkimVariant| {
        let variant = v.without_samples();
        let key = (e.name.as_str(), variant.name.as_str());
        let of_runs = runs.iter().filter_map(|run| run.get(&key).copied());
        let (value, ci95) = variant.value();
        Row {
            experiment: experiment.clone(),
            variant: names.shared(&variant.name),
            unit: e.unit,
            not_linear: variant.is_not_linear(),
            n: variant.n,
            value,
            ci95,
            runs: if runs.len() > 1 { of_runs.collect() } else { Vec::new() },
        }
    };
    e.variants.into_iter().map(row).collect()
}

fn mangled<T>(why: String) -> Result<T, Fault> {
    Err(Fault(ProblemKind::Mangled, why))
}

fn check_created(created: &str) -> Result<(), Fault> {
    if humantime::parse_rfc3339(created).is_err() {
        return mangled(format!(
            "was created at {:?}, which is no time of RFC 3339",
            short(created)
        ));
    }
    Ok(())
}

fn check_names<'a>(
    rows: usize,
    named: impl Iterator<Item = &'a str> + Clone,
    node: Option<&'a str>,
) -> Result<(), Fault> {
    if rows > ROWS {
        return mangled(format!("has {rows} rows; no cyclewise writes more than {ROWS}"));
    }
    if let Some(long) = named.clone().chain(node).find(|name| name.len() > NAME) {
        return mangled(format!("has a name of {} bytes", long.len()));
    }
    // Names are kept until the last record is read; an experiment's is shared by its variants.
    let mut seen = HashSet::new();
    let all: usize = named.filter(|name| seen.insert(*name)).map(str::len).sum();
    if all > NAMES {
        return mangled(format!(
            "has names of {all} bytes; no cyclewise writes more than {NAMES}"
        ));
    }
    Ok(())
}

fn check_figures(rows: &[Row]) -> Result<(), Fault> {
    for row in rows {
        let mut figures = row.runs.iter().chain([&row.value]);
        if let Some(figure) = figures.find(|x| **x > 0.0 && !FIGURES.contains(*x)) {
            let (experiment, variant) = (short(&row.experiment), short(&row.variant));
            return mangled(format!(
                "{experiment}/{variant} has the figure {figure:e}; no cyclewise measures what is not from 1e-15 to 1e15"
            ));
        }
    }
    Ok(())
}

/// The rules of `record::load`, and those that a fleet needs.
fn check(record: &Skim) -> Result<(), Fault> {
    check_created(&record.created)?;
    let rows: usize = record.experiments.iter().map(|e| e.variants.len()).sum();
    let named = record
        .experiments
        .iter()
        .flat_map(|e| e.variants.iter().map(|v| &*v.name).chain([&*e.name]));
    check_names(rows, named, record.machine.identity.node.as_deref())?;
    let mut seen = HashSet::new();
    for e in &record.experiments {
        for v in &e.variants {
            if v.n != v.samples.0 {
                let (n, samples) = (v.n, v.samples.0);
                return mangled(format!(
                    "{}/{} has n = {n} but contains {samples} samples",
                    short(&e.name),
                    short(&v.name)
                ));
            }
            if !seen.insert((&e.name, &v.name)) {
                return mangled(format!("has {}/{} twice", short(&e.name), short(&v.name)));
            }
        }
        let known: HashSet<&String> = e.variants.iter().map(|v| &v.name).collect();
        if let Some(side) = e
            .comparisons
            .iter()
            .flat_map(|c| [&c.a, &c.b])
            .find(|side| !known.contains(side))
        {
            return mangled(format!(
                "{} compares {:?}, which it does not contain",
                short(&e.name),
                short(side)
            ));
        }
    }
    Ok(())
}

/// The beginning of a text from a file.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
