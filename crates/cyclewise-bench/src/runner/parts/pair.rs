//! Two programs that measure the same rows in turn, part by part, and what they came to as one.

use super::chain::{Chain, end, failed, file, lacks, of_parts, start};
use super::{Ended, Handed, Named, Side, SoFar, figures, figures_between, hold_between_builds, read};
use crate::error::{Error, Result};
use crate::record::{Experiment, Missing, note_agreement};
use crate::runner::samples::Measurement;
use crate::runner::{Control, Guards, Heading, SetupOf, conclude, give_verdicts};
use crate::sys::interrupt;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Stdio;

/// The rows that a program has, with these arguments in place of its command line's. `None`: it gives no answer.
pub fn rows_of(program: &Path, arguments: &[String]) -> Result<Option<Vec<String>>> {
    let (handed, written) = (handed(arguments)?, file()?);
    let named = Named {
        index: 0,
        of: 1,
        parent: std::process::id(),
        earlier: handed.as_raw_fd(),
        written: written.as_raw_fd(),
        side: Side::Alone,
    };
    end([&mut start(program, named, Stdio::null())?])?;
    Ok(read(written)?.and_then(|handed| handed.rows))
}

/// Runs the base and the new program in `parts` pairs of processes, with these arguments in place of their command lines'. The rows of the
/// base are called by its `name`, too.
pub fn compare(parts: u32, programs: [&Path; 2], arguments: &[String], name: &str) -> Result<Chain> {
    let mut chain = Chain::default();
    let mut given = [handed(arguments)?, handed(arguments)?];
    let mut so_far: Option<[SoFar; 2]> = None;
    let mut missing: Vec<(String, Vec<Missing>)> = Vec::new();
    for index in 0..parts {
        let pair = format!("pair {} of {parts} of processes", index + 1);
        if interrupt::asked() {
            chain
                .missing
                .push(lacks(&pair, &format!("not begun before {}", interrupt::name())));
            break;
        }
        if so_far.iter().flatten().any(|side| side.ended) {
            break;
        }
        let written = [file()?, file()?];
        let (a, b) = UnixStream::pair().map_err(|e| failed(&e))?;
        let named = |of: usize, side: Side| Named {
            index,
            of: parts,
            parent: std::process::id(),
            earlier: given[of].as_raw_fd(),
            written: written[of].as_raw_fd(),
            side,
        };
        // What this process holds of the sockets is closed when the programs have theirs, so that each sees the end of the other.
        let mut base = start(programs[0], named(0, Side::First), OwnedFd::from(a).into())?;
        let mut new = start(programs[1], named(1, Side::Second), OwnedFd::from(b).into())?;
        let ended = end([&mut base, &mut new])?;
        chain.ended.extend(ended.into_iter().filter(|status| !status.success()));
        let mut answers = Vec::new();
        for file in &written {
            let file = file.try_clone().map_err(|e| failed(&e))?;
            answers.extend(read(file).ok().flatten().and_then(|handed| handed.so_far));
        }
        let Ok(next) = <[SoFar; 2]>::try_from(answers) else {
            let [base, new] = ended;
            chain.missing.push(lacks(
                &pair,
                &format!("gave no record ({base}, {new}); the reason is above"),
            ));
            break;
        };
        missing.push((pair, next.iter().flat_map(|side| side.record.missing.clone()).collect()));
        (given, so_far) = (written, Some(next));
    }
    chain.last = so_far.map(|[base, new]| joined(base, new, name, of_parts(&missing)));
    Ok(chain)
}

fn handed(arguments: &[String]) -> Result<File> {
    let handed = Handed {
        arguments: Some(arguments.to_vec()),
        ..Handed::default()
    };
    let mut file = file()?;
    let text = serde_json::to_vec(&handed).map_err(|e| Error::check(e.to_string()))?;
    file.write_all(&text).map_err(|e| failed(&e))?;
    Ok(file)
}

/// The record of both: each row of the new program against that of the base.
fn joined(mut base: SoFar, mut new: SoFar, name: &str, missing: Vec<Missing>) -> Ended {
    let mut record = new.record;
    record.missing = missing;
    let mut too_few = Vec::new();
    let own = std::mem::take(&mut record.experiments);
    for e in own {
        let both = new.measured.remove(&e.name).zip(base.measured.remove(&e.name));
        // Rounds of processes that did not take turns are no pairs.
        let Some((own, others)) = both.filter(|(own, others)| own.parts == others.parts) else {
            record
                .missing
                .push(lacks(&e.name, &format!("not measured in turn with {name}")));
            continue;
        };
        let (measured, setup) = one(own, others, name);
        let question = format!("How does each variant compare with that of {name}?");
        let heading = Heading {
            name: &e.name,
            question: &question,
            source: &e.source,
            unit: e.unit,
            guards: Guards::ThisThread,
        };
        match conclude(heading, &setup, &measured, record.seed) {
            Ok(concluded) => {
                let concluded = Experiment {
                    growth: e.growth,
                    ..concluded
                };
                figures::of_parts(&concluded, &measured.parts, &mut record.runs);
                record.experiments.push(concluded);
                too_few.extend(measured.too_few(&e.name));
            }
            Err(error) => record.missing.push(lacks(&e.name, &error.message)),
        }
    }
    // Groups that came to no experiment yet.
    for (name, measured) in &new.measured {
        too_few.extend(measured.too_few(name));
    }
    give_verdicts(&mut record);
    for e in &mut record.experiments {
        figures_between(e, &record.runs);
        hold_between_builds(e);
    }
    note_agreement(&mut record);
    SoFar {
        record,
        too_few,
        ..SoFar::default()
    }
    .into()
}

/// The columns of both, those of the base with its name, and which are compared.
fn one(mut own: Measurement, others: Measurement, name: &str) -> (Measurement, SetupOf<'static>) {
    let rows = own.columns.len();
    let of_base = |row: &str| others.columns.iter().position(|c| c.name == row);
    let compare = own
        .columns
        .iter()
        .enumerate()
        .filter_map(|(i, c)| Some((i, rows + of_base(&c.name)?)));
    let setup = SetupOf {
        compare: compare.collect(),
        control: match own.again {
            Some(_) => Control::Repeat(0),
            None => Control::Split(0),
        },
        ..SetupOf::default()
    };
    let renamed = others.columns.into_iter().map(|mut column| {
        column.name = format!("{}@{name}", column.name);
        column
    });
    own.columns.extend(renamed);
    own.interrupted |= others.interrupted;
    own.missing.clear();
    (own, setup)
}
