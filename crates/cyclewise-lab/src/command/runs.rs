//! A run of several processes, and of one.

use super::cli::RunArgs;
use super::{missing, run_once};
use crate::error::{Error, Result};
use crate::experiment::Definition;
use crate::record::Record;
use crate::runner::Ended;
use crate::runner::parts::{self, Part};
use cyclewise_report::files::output::tell;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::process::ExitStatus;

/// In a process that measures a part of a run: measures it, in an order of its own.
pub(super) fn measure_part(args: &RunArgs, chosen: &[&Definition], part: Part) -> Result<()> {
    let mut chosen = chosen.to_vec();
    chosen.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(part.seed(args.common.seed)));
    run_once::measure(args, &chosen, part)?.hand_on()
}

/// Measures `chosen` in as many processes as asked for. What is missing, a whole process included, is among the record's missing.
///
/// # Errors
/// No process gave a record.
pub(super) fn measure(args: &RunArgs, chosen: &[&Definition]) -> Result<Record> {
    let mut record = measured(args, chosen)?;
    let of_guests: Vec<_> = record.experiments.iter().flat_map(missing::of_guest).collect();
    record.missing.extend(of_guests);
    Ok(record)
}

fn measured(args: &RunArgs, chosen: &[&Definition]) -> Result<Record> {
    if parts::possible(args.runs, |line| tell(&format!("cyclewise: {line}"))) == 1 {
        return Ok(run_once::measure(args, chosen, Part::whole())?.end().record);
    }
    let chain = parts::run(args.runs, tell)?;
    let Some(Ended { mut record, .. }) = chain.last else {
        // A process that ended by itself has said why, and by its status how.
        if let Some(status) = chain.ended.last().and_then(ExitStatus::code) {
            std::process::exit(status);
        }
        let why: Vec<&str> = chain.missing.iter().map(|m| m.why.as_str()).collect();
        return Err(Error::unsupported(format!(
            "no process gave a record; {}",
            why.join("; ")
        )));
    };
    let place = |name: &str| chosen.iter().position(|d| d.name == name);
    record.experiments.sort_by_key(|e| place(&e.name));
    record.seed = args.common.seed;
    record.missing.extend(chain.missing);
    Ok(record)
}
