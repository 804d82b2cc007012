//! `cyclewise run`: measures experiments once or in several processes, prints the table, writes the record and the report.

use super::cli::RunArgs;
use super::{anonymous, missing, record_files, runs};
use crate::error::{Error, Result};
use crate::experiment::{self, Definition};
use crate::export;
use crate::runner::parts::Part;
use crate::sys::interrupt;
use cyclewise_report::files::output;
use cyclewise_report::files::output::tell;

pub(super) fn run(args: &RunArgs) -> Result<()> {
    let chosen = experiment::select(&args.experiments)?;
    reject_unused_options(args, &chosen)?;
    if let Some(part) = Part::of_this_process()? {
        interrupt::listen_with_parent();
        return runs::measure_part(args, &chosen, part);
    }
    let documents = record_files::documents(&args.common);
    record_files::check(&documents, &args.common, true)?;
    let key = anonymous::key(args.common.anonymous.as_ref())?;
    interrupt::listen();
    let mut record = runs::measure(args, &chosen)?;
    if let Some(key) = key {
        anonymous::hide(&mut record, &key);
    }
    let named = !args.experiments.is_empty();
    let ended = missing::end(&record, chosen.len(), named);
    if !record.experiments.is_empty() {
        record_files::write(
            &record,
            &documents,
            &export::table::record(&record, output::look(args.common.wide)),
            true,
        )?;
    }
    if interrupt::asked() && !record.missing.is_empty() {
        tell(&format!("cyclewise: {}", missing::summary(&record, chosen.len())));
        interrupt::end();
    }
    tell(&ended?);
    Ok(())
}

/// Rejects an option whose experiment is not among the `chosen`: it would have no effect.
fn reject_unused_options(args: &RunArgs, chosen: &[&Definition]) -> Result<()> {
    for (option, given, name) in [
        ("--pipe", args.pipe, "hackbench"),
        ("--groups", args.groups.is_some(), "hackbench"),
        ("--loops", args.loops.is_some(), "hackbench"),
        ("--threads", !args.threads.is_empty(), "open-read-close"),
    ] {
        if given && chosen.iter().all(|d| d.name != name) {
            return Err(Error::usage(format!(
                "{option} applies only to {name}, which would not run; add {name}, or leave {option} out"
            )));
        }
    }
    Ok(())
}
