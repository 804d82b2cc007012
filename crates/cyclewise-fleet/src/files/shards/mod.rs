//! The shards of a sweep in a folder: which are whole, what the other files are, and the whole sweep's points in order.
//!
//! # Invariants
//! 1. Each file is read to its end before any of it counts: [`Survey::found`] has whole shards only.
//! 2. What is found does not depend on the order of the folder's entries: files are taken in the order of their names.
//! 3. Memory is for a few bytes a point and a buffer for each shard, whatever the size of the points.

mod merge;
mod walk;

pub(crate) use merge::merge;
pub(crate) use walk::{files, is_temporary};

use super::file::{self, Bytes};
use crate::error::{Error, Result};
use crate::record::Tool;
use crate::record::fleet::{Fault, Problem, ProblemKind};
use crate::record::plan::{MOST_SHARDS, Plan, Work};
use crate::record::simulation::{Head, PointReader, Shard, Shards, Sweep};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a folder has of a sweep.
pub(crate) struct Survey {
    /// The program that wrote the shards, or must write them.
    pub tool: Tool,
    /// The sweep.
    pub sweep: Sweep,
    /// Its shards.
    pub shards: Shards,
    /// The number of shards.
    pub count: u32,
    /// The file of each whole shard, by its number.
    pub found: BTreeMap<u32, PathBuf>,
    /// Shards that two files have with different results.
    pub contradictory: Vec<u32>,
    /// The files of each of those.
    pub claims: BTreeMap<u32, Vec<PathBuf>>,
    /// Number, file and program of shards that another version wrote, or that are of another sweep.
    pub refused: Vec<(u32, PathBuf, Tool)>,
    /// Whether a plan says what is looked for.
    is_planned: bool,
    /// Files that do not count, and why.
    pub problems: Vec<Problem>,
    /// Temporary files of tasks that did not end.
    pub left_over: Vec<String>,
}

impl Survey {
    /// The numbers of the shards that are not there, ascending.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u32> {
        (1..=self.count).filter(|number| !self.found.contains_key(number))
    }
}

/// A file's name below the folder, and what it says before its points.
struct Candidate {
    path: PathBuf,
    name: String,
    head: Head,
    shard: Shard,
}

/// Looks at every file in `dir`. Without a plan, the sweep is the one that most files are of.
///
/// # Errors
/// Exit 2: the folder cannot be read, or has no shard and no plan of one.
pub(crate) fn survey(dir: &Path, plan: Option<&Plan>) -> Result<Survey> {
    let mut problems = Vec::new();
    let mut candidates = Vec::new();
    let mut left_over = Vec::new();
    for path in files(dir)? {
        let name = shown(dir, &path);
        if !path.is_file() {
            let why = "is a folder, a FIFO or a device, or a link to nothing, not a shard".to_owned();
            problems.push(Fault(ProblemKind::Foreign, why).in_file(&name));
            continue;
        }
        if is_temporary(&path) {
            left_over.push(name);
            continue;
        }
        match head(&path) {
            Ok(head) => match head.shard {
                Some(Shard { count, .. }) if count > MOST_SHARDS => {
                    let why = format!("it claims to be one of {count} shards, more than {MOST_SHARDS}");
                    problems.push(Fault(ProblemKind::Mangled, why).in_file(&name));
                }
                Some(shard) => candidates.push(Candidate {
                    path,
                    name,
                    head,
                    shard,
                }),
                None => {
                    let fault = Fault(ProblemKind::Foreign, "it is a whole sweep, not a shard".to_owned());
                    problems.push(fault.in_file(&name));
                }
            },
            Err(fault) => problems.push(fault.in_file(&name)),
        }
    }
    let expected = match plan.map(|p| (&p.tool, &p.work)) {
        Some((tool, Work::Sweep { shards, sweep, .. })) => (tool.clone(), (**sweep).clone(), *shards),
        _ => most_common(dir, &candidates)?,
    };
    let (tool, sweep, count) = expected;
    let mut survey = Survey {
        shards: Shards::of(&sweep, count),
        tool,
        sweep,
        count,
        found: BTreeMap::new(),
        contradictory: Vec::new(),
        claims: BTreeMap::new(),
        refused: Vec::new(),
        is_planned: plan.is_some(),
        problems,
        left_over,
    };
    for candidate in candidates {
        if let Err(fault) = survey.add(&candidate) {
            survey.problems.push(fault.in_file(&candidate.name));
        }
    }
    for number in &survey.contradictory {
        survey.found.remove(number);
    }
    let contradictory = &survey.contradictory;
    survey.claims.retain(|number, _| contradictory.contains(number));
    let found = &survey.found;
    survey.refused.retain(|(number, ..)| !found.contains_key(number));
    Ok(survey)
}

/// The program, sweep and number of shards that most candidates have; of equals the first's.
fn most_common(dir: &Path, candidates: &[Candidate]) -> Result<(Tool, Sweep, u32)> {
    let mut kinds: Vec<(&Candidate, usize)> = Vec::new();
    for candidate in candidates {
        let alike = |(first, _): &&mut (&Candidate, usize)| {
            first.shard.count == candidate.shard.count
                && (&first.head.tool, &first.head.sweep) == (&candidate.head.tool, &candidate.head.sweep)
        };
        match kinds.iter_mut().find(alike) {
            Some((_, n)) => *n += 1,
            None => kinds.push((candidate, 1)),
        }
    }
    let most = kinds.iter().map(|(_, n)| *n).max();
    let Some((first, _)) = kinds.iter().find(|(_, n)| Some(*n) == most) else {
        return Err(Error::usage(format!(
            "{} has no shard of a sweep; give the folder of `fleet plan --into`, or one with files of `simulate --shard`",
            dir.display()
        )));
    };
    let Head { tool, sweep, .. } = first.head.clone();
    Ok((tool, sweep, first.shard.count))
}

impl Survey {
    /// Counts a file if it is a whole shard of this sweep.
    fn add(&mut self, candidate: &Candidate) -> std::result::Result<(), Fault> {
        let Candidate {
            path,
            name,
            head,
            shard,
        } = candidate;
        if let Some(fault) = self.is_foreign(head, *shard) {
            if shard.count == self.count {
                self.refused.push((shard.index, path.clone(), head.tool.clone()));
            }
            return Err(fault);
        }
        let mut reader = open(path)?;
        if reader.head() != head {
            return Err(Fault(ProblemKind::Torn, "it changed while it was read".to_owned()));
        }
        for due in self.shards.points(shard.index) {
            reader.next_line(due)?;
        }
        reader.end()?;
        self.claims.entry(shard.index).or_default().push(path.clone());
        let Some(first) = self.found.get(&shard.index) else {
            self.found.insert(shard.index, path.clone());
            return Ok(());
        };
        let first_name = first.file_name().unwrap_or_default().display().to_string();
        match same_text(first, path)? {
            true => Err(Fault(
                ProblemKind::Duplicate,
                format!("it has the same text as {first_name}, which counts"),
            )),
            false => {
                self.contradictory.push(shard.index);
                Err(Fault(
                    ProblemKind::Mangled,
                    format!(
                        "{first_name} and {name} are both shard {} and have different results, so neither counts; remove both",
                        shard.index
                    ),
                ))
            }
        }
    }

    /// Why a file with this head is not a shard of this sweep.
    fn is_foreign(&self, head: &Head, shard: Shard) -> Option<Fault> {
        let ours = if self.is_planned {
            "the plan is"
        } else {
            "most others are"
        };
        if head.tool != self.tool {
            let why = format!(
                "cyclewise {} wrote it, and {ours} of {}",
                head.tool.shown(),
                self.tool.shown()
            );
            return Some(Fault(ProblemKind::Version, why));
        }
        if head.sweep != self.sweep {
            let why = format!(
                "it is of another sweep than {}",
                ours.trim_end_matches(" is").trim_end_matches(" are")
            );
            return Some(Fault(ProblemKind::Foreign, why));
        }
        if shard.count != self.count {
            let why = format!("it is one of {} shards, and {ours} of {}", shard.count, self.count);
            return Some(Fault(ProblemKind::Foreign, why));
        }
        None
    }
}

/// A file's name below the folder, without control characters.
fn shown(dir: &Path, path: &Path) -> String {
    let name = path.strip_prefix(dir).unwrap_or(path);
    name.display().to_string().replace(crate::error::is_control, " ")
}

fn open(path: &Path) -> std::result::Result<PointReader<Bytes>, Fault> {
    PointReader::new(file::open(path)?)
}

fn head(path: &Path) -> std::result::Result<Head, Fault> {
    Ok(open(path)?.head().clone())
}

/// Whether two files have the same text, packed or not.
fn same_text(a: &Path, b: &Path) -> std::result::Result<bool, Fault> {
    let (mut a, mut b) = (file::open(a)?.bytes(), file::open(b)?.bytes());
    loop {
        let next = (a.next().transpose(), b.next().transpose());
        match (next.0.map_err(|e| file::torn(&e))?, next.1.map_err(|e| file::torn(&e))?) {
            (None, None) => return Ok(true),
            (x, y) if x != y => return Ok(false),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
