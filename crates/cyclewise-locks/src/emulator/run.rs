//! One run of a program: started, waited for, and its counts.

use super::collect::{collect, failure, is_whole};
use super::find::Emulator;
use super::folder::{Settings, prepare_folder};
use crate::counts::{Counts, Method, saturating_sum};
use crate::error::{Error, Result};
use crate::sys::signals;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// A program to be run.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program, as one would write it in a shell: without a slash it is looked for in PATH.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// The emulator, by [`find`](fn@super::find).
    pub emulator: Emulator,
    /// Limits and places.
    pub settings: Settings,
}

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How the program ended.
    pub status: ExitStatus,
    pub counts: Counts,
    /// Whether a signal that asks a process to end came meanwhile. A server that ends in good order has a status that does not tell.
    pub asked_to_end: bool,
}

/// Runs the program, with this process's own input, output and environment, and counts.
///
/// A program that fails, or is ended by a signal, is no error: its status is given back, with the counts until then. While it runs,
/// signals that ask this process to end are the program's.
pub fn run(launch: &Launch) -> Result<Ran> {
    // Before the folder, which a signal would leave behind.
    let signals = signals::hold();
    let folder = prepare_folder(&launch.emulator, &launch.settings)?;
    let mut command = folder.runner()?.command(&launch.program, &launch.arguments)?;
    let emulator = launch.emulator.path.display();
    let mut child = command
        .spawn()
        .map_err(|error| Error::unsupported(format!("cannot start {emulator}: {error}")))?;
    signals.started(child.id());
    signals.wait(child.id());
    let status = child
        .wait()
        .map_err(|error| Error::unsupported(format!("cannot wait for {emulator}: {error}")))?;
    let asked_to_end = signals.came();
    if !is_whole(folder.path()) {
        let counts = nothing(launch);
        return Ok(Ran {
            status,
            counts,
            asked_to_end,
        });
    }
    // A program that was ended as it began has not failed to begin.
    let is_asked_to_end = status.signal().is_some_and(signals::is_ending);
    if let Some(why) = failure(folder.path(), status).filter(|_| !is_asked_to_end) {
        return Err(Error::unsupported(format!(
            "{emulator} did not run {}: {why}",
            launch.program.display()
        )));
    }
    folder.close();
    let counts = collect(folder.path())?;
    let threads = counts.processes.iter().flat_map(|p| &p.threads);
    let instructions = saturating_sum(threads.map(|t| t.instructions));
    if instructions == 0 && !status.success() && !is_asked_to_end {
        return Err(Error::unsupported(format!(
            "{emulator} did not run {}: it ended, {status}, before the first instruction",
            launch.program.display()
        )));
    }
    Ok(Ran {
        status,
        counts,
        asked_to_end,
    })
}

/// What is known of a program that removed the run's folder.
fn nothing(launch: &Launch) -> Counts {
    Counts {
        method: Method::Emulator {
            version: launch.emulator.version.clone(),
        },
        arch: launch.emulator.arch,
        processes: Vec::new(),
        missing: vec![
            "not counted: anything: the run's folder was removed while the program ran; set TMPDIR to a folder that it leaves alone"
                .to_owned(),
        ],
    }
}
