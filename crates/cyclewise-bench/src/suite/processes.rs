//! The parent of the processes that measure: it starts them, and prints what they came to.

use super::options::Options;
use super::output;
use super::state::{status, tell_too_few, written};
use crate::error::{Error, Result, Status};
use crate::runner::parts;
use crate::sys::interrupt;
use std::process::ExitStatus;

/// Measures in several processes, and prints and writes what they came to; the exit status.
///
/// # Errors
/// No process can be started, or none came to an end of its own.
pub(super) fn parent(options: &Options) -> Result<u8> {
    interrupt::listen();
    let chain = parts::run(options.runs, |_| {})?;
    let mut failures: Vec<Status> = chain.ended.iter().map(of_process).collect();
    match chain.last {
        Some(mut ended) => {
            failures.extend(tell_too_few(&ended));
            ended.record.seed = options.seed;
            ended.record.missing.extend(chain.missing);
            if let Err(error) = written(&ended.record, options) {
                output::tell(&format!("cyclewise-bench: {error}"));
                failures.push(error.status);
            }
        }
        // A process that ended by itself has said why.
        None if chain.ended.iter().all(|ended| ended.code().is_some()) => {}
        None => {
            let lines = chain.missing.iter().map(|m| format!("{}: {}", m.experiment, m.why));
            return Err(Error::check(lines.collect::<Vec<_>>().join("; ")));
        }
    }
    Ok(status(&failures))
}

/// What a process' exit status stands for.
fn of_process(ended: &ExitStatus) -> Status {
    let known = [Status::CheckFailed, Status::Usage, Status::Unsupported];
    let of_code = |code: i32| known.into_iter().find(|status| *status as i32 == code);
    ended.code().and_then(of_code).unwrap_or(Status::CheckFailed)
}
