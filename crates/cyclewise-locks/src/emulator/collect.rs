//! The counts of a run's folder.

use super::folder::Runner;
use super::layout::{self, Control};
use super::reader::{Image, read_image};
use super::running;
use crate::counts::{Counts, Method};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::Path;
use std::process::ExitStatus;

/// Reads what was counted so far by all programs that were run into the folder.
pub fn collect(folder: &Path) -> Result<Counts> {
    let runner = Runner::open(folder)?;
    let control = std::fs::read(folder.join(layout::CONTROL)).unwrap_or_default();
    let mut counts = Counts {
        method: Method::Emulator {
            version: runner.version.clone(),
        },
        arch: runner.arch,
        processes: Vec::new(),
        missing: Vec::new(),
    };
    // Before the counts, which are those of a later time then.
    let running = running::line(folder);
    for name in images(folder)? {
        // Each at a time: together they may be more than memory holds.
        let bytes = std::fs::read(folder.join(&name))
            .map_err(|error| Error::unsupported(format!("cannot read {name} of {}: {error}", folder.display())))?;
        match read_image(&bytes) {
            Some(image) if image.arch == runner.arch => {
                counts.missing.extend(losses(&image));
                counts.processes.push(image.process);
            }
            // A process that was killed before it had begun has nothing to tell.
            _ if bytes.iter().take(8).all(|b| *b == 0) => {}
            _ => counts
                .missing
                .push(format!("not counted: {name} cannot be read: it is damaged")),
        }
    }
    counts.missing.extend(running);
    counts.missing.extend(notes(&control));
    counts.missing.extend(refused(&control));
    Ok(counts)
}

/// Whether the folder still has what the command and the first process put there.
pub(super) fn is_whole(folder: &Path) -> bool {
    folder.join(layout::CONTROL).exists() && Runner::open(folder).is_ok()
}

/// Why nothing was run, where that is so: the plugin was not loaded, or had no room for counts.
pub(super) fn failure(folder: &Path, status: ExitStatus) -> Option<String> {
    let control = std::fs::read(folder.join(layout::CONTROL)).unwrap_or_default();
    if field(&control, offset_of!(Control, started)) == 0 {
        return Some(format!("it ended, {status}, before it had loaded the plugin"));
    }
    match field(&control, offset_of!(Control, first_error)) {
        0 => None,
        error => Some(format!(
            "no file for the counts can be made in {}: {}; make room there, or set TMPDIR to another folder",
            folder.display(),
            text_of(error)
        )),
    }
}

fn field(control: &[u8], at: usize) -> u32 {
    let bytes = control.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |b| u32::from_le_bytes(*b))
}

fn text_of(error: u32) -> String {
    std::io::Error::from_raw_os_error(error.cast_signed()).to_string()
}

/// The names of the images' files, in the order in which the images began.
fn images(folder: &Path) -> Result<Vec<String>> {
    let unreadable = |error: std::io::Error| Error::unsupported(format!("cannot read {}: {error}", folder.display()));
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned();
        if name.starts_with("image-") {
            names.push(name);
        }
    }
    // By number; numbers of more than seven digits are longer names.
    names.sort_by_key(|name| (name.len(), name.clone()));
    Ok(names)
}

fn losses(image: &Image) -> Vec<String> {
    let of = format!("process {} ({})", image.process.pid, image.process.program.display());
    let mut lines = Vec::new();
    if let Some(error) = image.lost {
        lines.push(format!(
            "incomplete: the file of counts of {of} could not grow: {}; what came later is not in it",
            text_of(error.cast_unsigned())
        ));
    }
    if image.sites_refused > 0 {
        lines.push(format!(
            "not counted: {} sites of {of} beyond the first 200 000",
            image.sites_refused
        ));
    }
    if image.threads_refused > 0 {
        lines.push(format!(
            "not counted: {} threads of {of} beyond the first 65 536",
            image.threads_refused
        ));
    }
    lines
}

/// What plugins noted, each line once, with how often it was.
fn notes(control: &[u8]) -> Vec<String> {
    let start = offset_of!(Control, notes);
    let notes = control.get(start..start + layout::NOTES).unwrap_or_default();
    // Zeros are where nothing was written, be it that a process was killed before it had.
    let notes: Vec<u8> = notes.iter().copied().filter(|b| *b != 0).collect();
    let notes = String::from_utf8_lossy(&notes);
    let mut seen = BTreeMap::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in notes.lines() {
        let times: &mut u32 = seen.entry(line).or_default();
        *times += 1;
        if *times == 1 {
            lines.push(line);
        }
    }
    lines
        .into_iter()
        .map(|line| match seen.get(line) {
            Some(times @ 2..) => format!("{line} ({times} times)"),
            _ => line.to_owned(),
        })
        .collect()
}

fn refused(control: &[u8]) -> Vec<String> {
    let word = |at| field(control, at);
    let mut lines = Vec::new();
    let refused = word(offset_of!(Control, refused));
    if refused > 0 {
        lines.push(format!(
            "not counted: {refused} process images beyond the limit of {}",
            word(offset_of!(Control, limit))
        ));
    }
    let failed = word(offset_of!(Control, later_errors));
    if failed > 0 {
        lines.push(format!(
            "not counted: {failed} process images, for which no file of counts could be made: {}",
            text_of(word(offset_of!(Control, later_error)))
        ));
    }
    let starting = word(offset_of!(Control, starting));
    if starting > 0 {
        lines.push(format!(
            "not counted: {starting} programs that were executed, whose emulator had not begun"
        ));
    }
    lines
}
