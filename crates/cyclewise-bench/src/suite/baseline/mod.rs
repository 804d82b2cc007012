//! The run before, kept as criterion keeps it: each run is compared with it, and kept in its place.
//!
//! A program has one file for each name of a baseline, below `cyclewise-bench` in the folder that cargo builds in. A line of it is a
//! record of one group, so that a run of some groups leaves those of the others. The two runs did not take turns, so what else changed
//! between them is in the ratios; verdicts are those of `cyclewise compare`, which need several processes on both sides.

use super::options::{Baseline, Options};
use super::table::{Table, time_unit};
use super::{against, output, program};
use crate::compare::{self, Outcome, Side};
use crate::error::{Error, Result};
use crate::files::document_file;
use crate::number::{interval, significant};
use crate::record::{Experiment, Machine, Record, Run, SCHEMA, Unit, Verdict, bounds, clean};
use crate::sys::interrupt;
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::PathBuf;

/// The name of the baseline that nobody has named, as criterion has it.
const LAST: &str = "base";

/// The folder in place of the one beside the build; empty: nothing is kept.
const HOME: &str = "CYCLEWISE_BENCH_HOME";

/// Fewer processes on a side show no variance that a verdict can rest on.
const FEWEST_RUNS: usize = 3;

/// A group of a run before.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    /// How the program was built.
    build: String,
    /// The record of this group alone.
    record: Record,
}

impl Baseline {
    fn name(&self) -> &str {
        match self {
            Self::Last => LAST,
            Self::Save(name) | Self::Keep(name) => name,
        }
    }

    /// Its file; `None` where nothing is kept, because the program is not where cargo builds.
    fn file(&self) -> Option<PathBuf> {
        let home = match std::env::var_os(HOME) {
            Some(home) if home.is_empty() => return None,
            Some(home) => PathBuf::from(home),
            None => against::builds().ok()?,
        };
        Some(home.join(program()).join(format!("{}.jsonl", self.name())))
    }

    /// Checks that there is what shall be compared with, before anything is measured.
    ///
    /// # Errors
    /// Exit 2: there is no such baseline.
    pub(super) fn check(&self) -> Result<()> {
        let Self::Keep(name) = self else { return Ok(()) };
        match self.file().is_some_and(|file| file.is_file()) {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "--baseline {name}: there is none of this name; --save-baseline {name} keeps a run as one"
            ))),
        }
    }
}

/// Compares a record with the baseline, and keeps it as the next one; what there is to say, for people.
///
/// # Errors
/// The record cannot be kept.
pub(super) fn follow(record: &Record, options: &Options) -> Result<String> {
    let Some(file) = options.baseline.file().filter(|_| options.against.is_none()) else {
        return Ok(String::new());
    };
    let before = read(&file).unwrap_or_else(|why| {
        output::tell(&format!(
            "cyclewise-bench: {}: {why}; this run takes its place",
            file.display()
        ));
        Vec::new()
    });
    let said = said(record, &before);
    if matches!(options.baseline, Baseline::Keep(_)) || interrupt::asked() {
        return Ok(said);
    }
    let kept = kept(record, &before, options);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| Error::system(&format!("making {}", folder.display()), &e, "set CYCLEWISE_BENCH_HOME"))?;
    }
    let lines = kept.iter().map(serde_json::to_string);
    let mut text = lines
        .collect::<serde_json::Result<Vec<_>>>()
        .map_err(|e| Error::check(format!("a baseline could not be written as JSON: {e}")))?
        .join("\n");
    text.push('\n');
    document_file::write(&file, &text)?;
    if before.is_empty() {
        output::tell(&format!(
            "kept in {}, which the next run is compared with",
            file.display()
        ));
    }
    Ok(said)
}

/// The groups of a file; none where it is not there.
fn read(file: &std::path::Path) -> std::result::Result<Vec<Kept>, String> {
    let text = match std::fs::read_to_string(file) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        read => read.map_err(|e| e.to_string())?,
    };
    let group = |line: &str| match clean::parse::<Kept>(line) {
        Ok(kept) if kept.record.schema == SCHEMA && kept.record.experiments.len() == 1 => Ok(kept),
        Ok(_) => Err("another version of cyclewise-bench wrote it".to_string()),
        Err(e) => Err(format!("not a baseline ({e})")),
    };
    text.lines().map(group).collect()
}

/// The groups of this run, and those of the run before that were not asked for, or not measured.
fn kept(record: &Record, before: &[Kept], options: &Options) -> Vec<Kept> {
    let groups: Vec<Kept> = record.experiments.iter().map(|e| alone(record, e)).collect();
    let filtered = !options.filters.is_empty() || !options.skip.is_empty();
    let is_in = |rows: &Experiment, name: &str| rows.variants.iter().any(|v| v.name == name);
    let stays = |old: &&Kept| {
        let old = &old.record.experiments[0];
        match record.experiments.iter().find(|e| e.name == old.name) {
            // Of a group of which some rows were asked for, the whole one stays.
            Some(new) => filtered && old.variants.iter().any(|v| !is_in(new, &v.name)),
            None => filtered || record.missing.iter().any(|m| m.experiment == old.name),
        }
    };
    let old: Vec<Kept> = before.iter().filter(stays).cloned().collect();
    let of_old = |new: &Kept| old.iter().any(|old| name(old) == name(new));
    let new: Vec<Kept> = groups.into_iter().filter(|new| !of_old(new)).collect();
    old.into_iter().chain(new).collect()
}

fn name(kept: &Kept) -> &str {
    &kept.record.experiments[0].name
}

/// A group of a record, and nothing of the others.
fn alone(record: &Record, e: &Experiment) -> Kept {
    let others = || record.experiments.iter().filter(|other| other.name != e.name);
    let run = |run: &Run| {
        let mut run = run.clone();
        others().for_each(|other| run.forget(&other.name));
        run
    };
    Kept {
        build: build(),
        record: Record {
            experiments: vec![e.clone()],
            runs: record.runs.iter().map(run).collect(),
            missing: Vec::new(),
            ..record.clone()
        },
    }
}

/// How this program was built, as far as it can tell: the folder of the profile, and what the profile says of this package.
fn build() -> String {
    let program = std::env::current_exe().ok();
    let profile = program.as_deref().and_then(|path| path.ancestors().nth(2)?.file_name());
    let profile = profile.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    format!("{profile}, opt-level {}", env!("CYCLEWISE_OPT_LEVEL"))
}

/// The groups that both runs have, a table for each.
fn said(record: &Record, before: &[Kept]) -> String {
    let mut out = String::new();
    for e in &record.experiments {
        let Some(old) = before.iter().find(|old| name(old) == e.name) else {
            continue;
        };
        let (table, notes) = group(old, record, e);
        if table.rows.is_empty() && notes.is_empty() {
            continue;
        }
        out += &format!("\n{}: against the run of {}\n", e.name, old.record.created);
        out += &table.plain(|text, _| text.to_string());
        notes.iter().for_each(|note| out += &format!("note: {note}\n"));
    }
    out
}

/// The rows of a group in both runs, and what to know of them.
fn group(old: &Kept, record: &Record, e: &Experiment) -> (Table, Vec<String>) {
    let before = &old.record.experiments[0];
    let mut notes = differences(old, record);
    let few = [&old.record, record].iter().any(|r| r.runs.len() < FEWEST_RUNS);
    let decides = !few && notes.is_empty();
    if few {
        notes.push(format!(
            "ratios without verdicts, which need --runs {FEWEST_RUNS} or more in both runs"
        ));
    }
    let mut table = Table {
        header: ["row", "before", "now", "unit", "ratio", "95 %"]
            .map(str::to_string)
            .to_vec(),
        rows: Vec::new(),
        verdicts: Vec::new(),
    };
    if decides {
        table.header.push("now it is".to_string());
    }
    if before.unit != e.unit {
        notes.push("not compared: the group has another unit now".to_string());
        return (table, notes);
    }
    let floor = before.control.as_ref().zip(e.control.as_ref());
    let floor = floor.map(|(a, b)| a.floor.max(b.floor));
    let typical = compare::typical_spread([before, e]);
    for v in &e.variants {
        let Some(known) = before.variants.iter().find(|known| known.name == v.name) else {
            continue;
        };
        let sides = [(&old.record, before, known), (record, e, v)];
        let [base, other] = sides.map(|(record, experiment, variant)| Side {
            record,
            experiment,
            variant,
            scale: match e.unit {
                Unit::TicksPerOp => 1e9 / record.machine.tsc_hz,
                _ => 1.0,
            },
            length: None,
        });
        let outcome = compare::decide(base, other, typical, floor);
        table.verdicts.push(decides.then_some(outcome.verdict));
        table.rows.push(row(&v.name, e.unit, &outcome, decides));
    }
    for (rows, others, at) in [(e, before, "new"), (before, e, "gone")] {
        let is_new = |name: &&str| others.variants.iter().all(|v| v.name != **name);
        let names: Vec<&str> = rows.variants.iter().map(|v| v.name.as_str()).filter(is_new).collect();
        if !names.is_empty() {
            notes.push(format!("not compared, because {at}: {}", names.join(", ")));
        }
    }
    (table, notes)
}

fn row(name: &str, unit: Unit, outcome: &Outcome, decides: bool) -> Vec<String> {
    let [before, now] = [outcome.basis.base, outcome.basis.other];
    let (unit, scale) = match unit {
        Unit::OpsPerSecond => ("million/s", 1e-6),
        _ => time_unit(before.min(now)),
    };
    let ci95 = bounds(outcome.ratio_ci95);
    let mut cells = vec![
        name.to_string(),
        significant(before * scale, 3),
        significant(now * scale, 3),
        unit.to_string(),
        format!("{}×", significant(outcome.ratio, 3)),
        interval(outcome.ratio, ci95),
    ];
    let verdict = match outcome.verdict {
        Verdict::None => "not comparable",
        verdict => verdict.as_str(),
    };
    cells.extend(decides.then(|| verdict.to_string()));
    cells
}

/// What differs beside the code.
fn differences(old: &Kept, record: &Record) -> Vec<String> {
    let host = |m: &Machine| {
        let node = m.identity.node.clone().unwrap_or_default();
        let facts = [
            node,
            m.cpu_model.clone(),
            m.cpu_id.clone(),
            format!("{} CPUs", m.cpus),
            m.kernel.clone(),
        ];
        facts
            .into_iter()
            .filter(|fact| !fact.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let pairs = [
        ("host", host(&old.record.machine), host(&record.machine)),
        ("build", old.build.clone(), build()),
    ];
    let differ = pairs.into_iter().filter(|(_, before, now)| before != now);
    differ
        .map(|(what, before, now)| format!("another {what} then, so there are no verdicts: {before}; now {now}"))
        .collect()
}

#[cfg(test)]
mod tests;
