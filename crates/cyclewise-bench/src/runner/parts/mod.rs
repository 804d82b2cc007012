//! A run that is divided over processes, each of which measures all of it for a part of the time.
//!
//! A process draws its address layout, its pages and its hour once, and no number of samples shows another draw. So each process hands
//! its samples, as they were taken, to the next. The last concludes: states of the neighbour, figures and paired tests are of all rounds,
//! the medians and ratios of each process ([`Run`]) give the intervals between them, and a verdict stands if they agree on it (`agree`).
//!
//! The parent process only waits. It starts the program with the arguments that it was given, and names the part in the environment:
//! its number, how many there are, the parent, and two files in memory, whose descriptors are inherited.

mod agree;
mod chain;
mod figures;
mod machines;
mod pair;

pub use agree::{figures_between, hold_between_builds, verdict_of_runs};
pub use chain::{Chain, hindrance, possible, run};
pub use pair::{compare, rows_of};

use super::samples::Measurement;
use super::turns::Turns;
use crate::error::{Error, Result};
use crate::record::{Missing, Record, Run};
use crate::sys::{memfd, process, stdin};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};

/// The variable of the environment that names a part.
const VARIABLE: &str = "CYCLEWISE_PART";

/// What the processes of a run have measured so far.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SoFar {
    /// Concluded from all of them; what is missing is the last one's alone.
    pub(super) record: Record,
    /// The samples as they were taken, by experiment.
    pub(super) measured: BTreeMap<String, Measurement>,
    /// Rows that are not measured again, because they failed: experiment and row.
    pub(super) failed: Vec<(String, String)>,
    /// Rows with too few samples of all processes so far.
    pub(super) too_few: Vec<Missing>,
    /// Lines that a further process need not tell again.
    pub(super) told: Vec<String>,
    /// What the first process decided, for all, in JSON.
    pub(super) decided: BTreeMap<String, String>,
    /// Whether no further process shall begin.
    pub(super) ended: bool,
}

#[derive(Debug)]
pub struct Ended {
    pub record: Record,
    /// Which of its missing rows kept too few samples.
    pub too_few: Vec<Missing>,
}

impl From<SoFar> for Ended {
    fn from(
        SoFar {
            mut record, too_few, ..
        }: SoFar,
    ) -> Self {
        record.missing.extend(too_few.iter().cloned());
        Self { record, too_few }
    }
}

/// What a parent process hands to a part, and the part back.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Handed {
    /// In place of the command line's.
    arguments: Option<Vec<String>>,
    so_far: Option<SoFar>,
    /// The answer of a part that was asked for its rows.
    rows: Option<Vec<String>>,
}

/// The part of a run that this process measures.
#[derive(Debug)]
pub struct Part {
    /// Its number, from 0.
    pub index: u32,
    pub of: u32,
    pub(super) earlier: Option<SoFar>,
    arguments: Option<Vec<String>>,
    turns: Option<Turns>,
    /// Where what there is so far is written; `None` for the only part of a run.
    written: Option<File>,
}

impl Part {
    /// The only part of a run.
    pub fn whole() -> Self {
        Self {
            index: 0,
            of: 1,
            earlier: None,
            arguments: None,
            turns: None,
            written: None,
        }
    }

    /// The part that the parent process has named. `None`: no parent has.
    ///
    /// # Errors
    /// What the processes before measured cannot be read.
    pub fn of_this_process() -> Result<Option<Self>> {
        let Some((named, earlier, written)) = named() else {
            return Ok(None);
        };
        process::die_with_parent(named.parent);
        let Handed { arguments, so_far, .. } = read(earlier)?.unwrap_or_default();
        let turns = match named.side {
            Side::Alone => None,
            side => {
                let socket = stdin::take_socket().map_err(|e| not_read(&e.to_string()))?;
                Some(Turns::new(socket, side == Side::First))
            }
        };
        Ok(Some(Self {
            index: named.index,
            of: named.of,
            earlier: so_far,
            arguments,
            turns,
            written: Some(written),
        }))
    }

    /// The arguments in place of the command line's.
    pub fn arguments(&self) -> Option<Vec<OsString>> {
        let arguments = self.arguments.as_ref()?.iter();
        Some(arguments.map(OsString::from).collect())
    }

    /// The other program, if this one takes turns with one.
    pub fn take_turns(&mut self) -> Option<Turns> {
        self.turns.take()
    }

    /// Hands back the rows that the parent process asked for.
    pub fn answer(self, rows: Vec<String>) -> Result<()> {
        let handed = Handed {
            rows: Some(rows),
            ..Handed::default()
        };
        self.write(&handed)
    }

    /// Whether a parent process concludes the run.
    pub fn is_one_of_several(&self) -> bool {
        self.written.is_some()
    }

    pub fn seed(&self, of_run: u64) -> u64 {
        of_run.wrapping_add(u64::from(self.index))
    }

    /// The CPU that the parts before were pinned to.
    pub fn cpu(&self) -> Option<u32> {
        self.earlier.as_ref()?.record.machine.pinned_cpu
    }

    pub fn has_failed(&self, experiment: &str, row: &str) -> bool {
        let failed = self.earlier.iter().flat_map(|earlier| &earlier.failed);
        failed.into_iter().any(|(e, r)| e == experiment && r == row)
    }

    /// Hands on what there is so far.
    pub(super) fn hand_on(mut self, so_far: SoFar) -> Result<()> {
        let handed = Handed {
            arguments: self.arguments.take(),
            so_far: Some(so_far),
            rows: None,
        };
        self.write(&handed)
    }

    fn write(self, handed: &Handed) -> Result<()> {
        let Some(mut written) = self.written else {
            return Ok(());
        };
        let failed = |why: &str| Error::check(format!("part {} of {}: {why}", self.index + 1, self.of));
        let text = serde_json::to_vec(handed).map_err(|e| failed(&e.to_string()))?;
        written.write_all(&text).map_err(|e| failed(&e.to_string()))
    }
}

/// The part that the environment names, and its files. The files are closed in further programs, which inherit the variable.
fn named() -> Option<(Named, File, File)> {
    let named = Named::read(&std::env::var(VARIABLE).ok()?)?;
    Some((named, memfd::given(named.earlier)?, memfd::given(named.written)?))
}

/// Reads a file in memory; `None` if nothing was written to it.
fn read(mut file: File) -> Result<Option<Handed>> {
    let mut text = String::new();
    file.rewind()
        .and_then(|()| file.read_to_string(&mut text))
        .map_err(|e| not_read(&e.to_string()))?;
    if text.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|e| not_read(&e.to_string()))
}

fn not_read(why: &str) -> Error {
    Error::check(format!("the earlier parts of this run: {why}"))
}

/// Whether a part takes turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Alone,
    /// With a second one.
    First,
    Second,
}

/// What the variable says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Named {
    index: u32,
    of: u32,
    parent: u32,
    earlier: i32,
    written: i32,
    side: Side,
}

impl Named {
    fn text(self) -> String {
        let Self {
            index,
            of,
            parent,
            earlier,
            written,
            side,
        } = self;
        format!("{index} {of} {parent} {earlier} {written} {}", side as u8)
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let named = Self {
            index: words.next()?.parse().ok()?,
            of: words.next()?.parse().ok()?,
            parent: words.next()?.parse().ok()?,
            earlier: words.next()?.parse().ok()?,
            written: words.next()?.parse().ok()?,
            side: match words.next()? {
                "0" => Side::Alone,
                "1" => Side::First,
                "2" => Side::Second,
                _ => return None,
            },
        };
        (words.next().is_none() && named.index < named.of).then_some(named)
    }
}

impl SoFar {
    /// Adds what the processes before have to what this one has.
    pub(super) fn join(&mut self, earlier: Option<SoFar>) {
        let own = Run {
            seed: self.record.seed,
            created: self.record.created.clone(),
            ..Run::default()
        };
        self.record.runs = vec![own];
        if let Some(earlier) = earlier {
            self.follow(earlier);
        }
        for e in &self.record.experiments {
            if let Some(measured) = self.measured.get(&e.name) {
                figures::of_parts(e, &measured.parts, &mut self.record.runs);
            }
        }
    }

    fn follow(&mut self, mut earlier: SoFar) {
        machines::join(&mut self.record, &earlier.record);
        self.record.runs.splice(0..0, earlier.record.runs);
        self.failed.append(&mut earlier.failed);
        self.told.append(&mut earlier.told);
        // What only earlier processes have.
        for e in earlier.record.experiments {
            if self.record.experiments.iter().all(|known| known.name != e.name) {
                self.record.experiments.push(e);
            }
        }
        self.measured.extend(earlier.measured);
    }
}

/// The rows that a run's missing names.
pub(super) fn rows(missing: &[Missing]) -> Vec<(String, String)> {
    let row = |m: &Missing| Some((m.experiment.clone(), m.variant.clone()?));
    missing.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_as_it_was_named() {
        let named = Named {
            index: 1,
            of: 3,
            parent: 77,
            earlier: 5,
            written: 6,
            side: Side::Second,
        };
        assert_eq!(Named::read(&named.text()), Some(named));
        for wrong in [
            "",
            "1 3 77 5 6",
            "3 3 77 5 6 0",
            "1 3 77 5 6 3",
            "1 3 77 5 x 0",
            "1 3 77 5 6 0 0",
        ] {
            assert_eq!(Named::read(wrong), None, "{wrong}");
        }
    }
}
