//! Programs whose truth was measured, and what the model says of them.
//!
//! `truth.tsv` has a row a measurement and explains its columns; the matrices and the summaries of profiles are JSON beside it.
//! All of it is in the binary. The error is computed from it each time, so that a new row changes the next forecast.

use super::costs::Costs;
use super::estimate::{Estimate, HotSite, Pace, estimate};
use super::rows::Replacement;
use super::stats::{self, Residual, Z};
use crate::profile::{Form, Mix, Operation};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::LazyLock;

const TABLE: &str = include_str!("truth.tsv");

/// The JSON files by name.
const FILES: &[(&str, &str)] = &[
    ("zen3-costs.json", include_str!("zen3-costs.json")),
    ("zen3-loops.json", include_str!("zen3-loops.json")),
    ("zen3-programs.json", include_str!("zen3-programs.json")),
    ("zen5-costs.json", include_str!("zen5-costs.json")),
    ("zen5-programs.json", include_str!("zen5-programs.json")),
];

/// What is kept of a program's profile: its sites with a LOCK prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) instructions: f64,
    pub(super) sites: Vec<HotSite>,
}

/// A program's truth, and what the model needs to forecast it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Truth {
    pub(super) cpu: String,
    /// Whether it is a loop that was made up.
    pub(super) is_loop: bool,
    pub(super) program: String,
    /// The user time that it saves without LOCK, in percent: the mean, and its standard deviation.
    pub(super) saved: (f64, f64),
    /// Nanoseconds an instruction, and the factor by which that may be wrong.
    pub(super) ns: (f64, f64),
    pub(super) summary: Summary,
    pub(super) costs: Costs,
}

/// Every program of the table.
///
/// # Panics
/// If the table or a file of it cannot be read. A test reads all of them, so no build that passes its tests can.
pub(super) fn truths() -> Vec<Truth> {
    read(TABLE, |name| {
        FILES.iter().find(|(file, _)| *file == name).map(|(_, text)| *text)
    })
    .expect("the table of truths is part of the program")
}

/// Reads a table; what cannot be read is named.
pub(super) fn read<'a>(table: &str, file: impl Fn(&str) -> Option<&'a str>) -> Result<Vec<Truth>, String> {
    let mut files = Files::default();
    let mut rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut truths: Vec<(Truth, Vec<(f64, f64)>)> = Vec::new();
    rows.try_for_each(|line| {
        let (truth, measured) = row(line, &file, &mut files).map_err(|why| format!("{why} in: {line}"))?;
        match truths
            .iter_mut()
            .find(|(t, _)| t.cpu == truth.cpu && t.program == truth.program)
        {
            Some((_, all)) => all.push(measured),
            None => truths.push((truth, vec![measured])),
        }
        Ok::<_, String>(())
    })?;
    let pool = |(mut truth, measured): (Truth, Vec<(f64, f64)>)| {
        truth.saved = stats::pooled(&measured);
        truth
    };
    Ok(truths.into_iter().map(pool).collect())
}

/// The files that rows have named already.
#[derive(Default)]
struct Files {
    costs: BTreeMap<String, Costs>,
    programs: BTreeMap<String, BTreeMap<String, Summary>>,
}

/// What a file says; it is parsed once.
fn parsed<'a, 'b, T: DeserializeOwned>(
    known: &'b mut BTreeMap<String, T>,
    name: &str,
    file: impl Fn(&str) -> Option<&'a str>,
) -> Result<&'b T, String> {
    Ok(match known.entry(name.to_owned()) {
        Entry::Occupied(entry) => entry.into_mut(),
        Entry::Vacant(entry) => {
            let text = file(name).ok_or(format!("no file {name}"))?;
            entry.insert(serde_json::from_str(text).map_err(|e| format!("{name}: {e}"))?)
        }
    })
}

fn row<'a>(
    line: &str,
    file: impl Fn(&str) -> Option<&'a str>,
    files: &mut Files,
) -> Result<(Truth, (f64, f64)), String> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [
        cpu,
        costs,
        kind,
        program,
        per_1000,
        ns,
        factor,
        operation,
        low,
        high,
        profile,
        _source,
    ] = cells[..]
    else {
        return Err(format!("{} columns, not 12", cells.len()));
    };
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|n| n.is_finite())
            .ok_or(format!("no number: {text}"))
    };
    let (low, high) = (number(low)?, number(high)?);
    if low >= high {
        return Err("an interval that is not one".into());
    }
    let summary = match profile {
        "-" => spread_evenly(number(per_1000)?, operation)?,
        place => {
            let (name, program) = place.split_once('#').ok_or(format!("no FILE#NAME: {place}"))?;
            let all = parsed(&mut files.programs, name, &file)?;
            all.get(program).ok_or(format!("no {program} in {name}"))?.clone()
        }
    };
    let truth = Truth {
        cpu: cpu.into(),
        is_loop: match kind {
            "program" => false,
            "loop" => true,
            _ => return Err(format!("no kind: {kind}")),
        },
        program: program.into(),
        saved: (0.0, 0.0),
        ns: (number(ns)?, number(factor)?),
        summary,
        costs: parsed(&mut files.costs, costs, &file)?.clone(),
    };
    Ok((truth, (f64::midpoint(low, high), (high - low) / (2.0 * Z))))
}

/// A program of which the count is known and nothing else: a million instructions of ordinary code.
fn spread_evenly(per_1000: f64, operation: &str) -> Result<Summary, String> {
    let instructions = 1e6;
    let operations: &[Operation] = match operation {
        "add" => &[Operation::Add],
        "xadd" => &[Operation::Add, Operation::FetchAdd],
        "cmpxchg" => &[Operation::FetchAdd, Operation::CompareExchange],
        "mixed" => &[Operation::Add, Operation::FetchAdd, Operation::CompareExchange],
        _ => return Err(format!("no operation: {operation}")),
    };
    // The chance that the next locked instruction is at least so far away, by a constant chance at each instruction.
    let beyond = |n: f64| (1.0 - per_1000 / 1000.0).powf(n);
    let ends = [0.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, f64::INFINITY];
    let mut distances = [0; 8];
    for (bin, pair) in distances.iter_mut().zip(ends.windows(2)) {
        *bin = (1e9 * (beyond(pair[0]) - beyond(pair[1]))) as u64;
    }
    let site = |operation: &Operation| HotSite {
        form: Form::Lock,
        operation: *operation,
        width: 4,
        executed: per_1000 / 1000.0 * instructions / operations.len() as f64,
        distances,
        mix: Mix::default(),
        removed: 0.0,
    };
    Ok(Summary {
        instructions,
        sites: operations.iter().map(site).collect(),
    })
}

impl Truth {
    /// What the matrix says of it, and the seconds that it runs.
    pub(super) fn by_the_matrix(&self) -> (Estimate, f64) {
        let seconds = self.summary.instructions * self.ns.0 * 1e-9;
        let pace = Pace::new(
            &self.costs,
            self.summary.instructions,
            Some(seconds),
            &self.summary.sites,
        );
        (
            estimate(&self.costs, &self.summary.sites, pace, Replacement::Plain),
            seconds,
        )
    }

    /// The truth beside it, in percent.
    pub(super) fn beside(&self) -> Beside {
        Beside {
            is_loop: self.is_loop,
            residual: self.residual(),
        }
    }

    /// What is between both, in percent.
    pub(super) fn residual(&self) -> Residual {
        let (estimate, seconds) = self.by_the_matrix();
        let percent = |s: f64| 100.0 * s / seconds;
        let mid = percent(estimate.saved.mid);
        let (truth, sd) = self.saved;
        // The mixes' spread is half of an interval that holds nearly always.
        let spread = percent(estimate.saved.high - estimate.saved.low) / (2.0 * Z);
        let cells = percent(estimate.saved.cells) / Z;
        let time = mid * self.ns.1.ln() / Z;
        Residual {
            difference: truth - mid,
            known: stats::together(&[sd, spread, cells, time]),
            scale: percent(estimate.back_to_back),
        }
    }
}

/// What the truths say of the model.
pub(super) struct Known {
    /// The half-widths of its error downwards and upwards, as shares of the price back to back.
    pub(super) error: [f64; 2],
    /// Programs inside the intervals that the others give them, and programs.
    pub(super) left_out: (usize, usize),
    /// Where the truths were measured, for people: ` on Zen 3`.
    pub(super) cpus: String,
}

/// The same for every forecast of a process.
pub(super) static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let truths = truths();
    let mut cpus: Vec<&str> = truths.iter().map(|truth| truth.cpu.as_str()).collect();
    cpus.dedup();
    let cpus = format!(" on {}", cpus.join(" and "));
    let beside: Vec<Beside> = truths.iter().map(Truth::beside).collect();
    Known {
        error: error(&beside),
        left_out: left_out(&beside),
        cpus,
    }
});

/// A truth beside its forecast.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Beside {
    /// Whether it is that of a made-up loop.
    pub(super) is_loop: bool,
    /// What is between them.
    pub(super) residual: Residual,
}

/// The half-widths of the model's error downwards and upwards.
///
/// A program may pay more than the matrix says for a reason that no loop has: its words and what it reads beside them are in
/// farther caches, for which a locked instruction waits. So the error upwards is that of programs alone. Nothing like that makes it pay
/// less, so the error downwards is that of loops and programs. Each side has the truths that lie there, as of a split normal distribution
/// (K. Wallis, "The two-piece normal, binormal, or double Gaussian distribution", Statistical Science 29:1, 2014).
pub(super) fn error(beside: &[Beside]) -> [f64; 2] {
    let share = |keep: &dyn Fn(&Beside) -> bool| {
        let kept: Vec<Residual> = beside.iter().filter(|b| keep(b)).map(|b| b.residual).collect();
        stats::error_share(&kept)
    };
    let down = share(&|b| b.residual.difference <= 0.0);
    [down, share(&|b| !b.is_loop && b.residual.difference >= 0.0).max(down)]
}

/// Whether the truths of all programs lie in the intervals that the others, and the loops, give them: programs inside, and programs.
///
/// What the truth's own measurement leaves open counts as part of the interval.
pub(super) fn left_out(beside: &[Beside]) -> (usize, usize) {
    let programs = || (0..beside.len()).filter(|at| !beside[*at].is_loop);
    let inside = programs().filter(|at| {
        let mut others = beside.to_vec();
        let Beside { residual, .. } = others.remove(*at);
        let [down, up] = error(&others);
        let share = if residual.difference < 0.0 { down } else { up };
        let half = stats::together(&[share * residual.scale, Z * residual.known]);
        residual.difference.abs() <= half
    });
    (inside.count(), programs().count())
}
