//! The parent process of a run: starts its parts one after the other, and ends with what the last has handed on.
//!
//! A terminal's Ctrl-C reaches the parent alone, which asks the part in progress to end; its rounds and the parts before it are kept.

use super::{Ended, Handed, Named, Side, SoFar, VARIABLE, read};
use crate::error::{Error, Result};
use crate::record::Missing;
use crate::sys::{interrupt, limits, memfd, process};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often a part in progress is looked at: for a signal that it has to hear of.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What the parts of a run came to.
#[derive(Debug, Default)]
pub struct Chain {
    /// `None`: no part gave a record.
    pub last: Option<Ended>,
    /// How each part ended that did not end with status 0, in the order of time.
    pub ended: Vec<ExitStatus>,
    /// Parts that gave nothing, and why. Those of the record are in the record.
    pub missing: Vec<Missing>,
}

/// The processes that shall share a run of which `asked` were asked for: one where processes cannot hand on what they measured.
pub fn possible(asked: u32, tell: impl Fn(&str)) -> u32 {
    match hindrance() {
        Some(why) if asked > 1 => {
            tell(&format!("{why}: one process measures"));
            1
        }
        _ => asked,
    }
}

/// Why a process cannot hand on to another what it measured; `None` if it can.
pub fn hindrance() -> Option<String> {
    if limits::file_size_is_limited() {
        return Some("`ulimit -f` limits files, and so what a process hands to the next".to_string());
    }
    if let Err(e) = memfd::inherited(c"cyclewise-run") {
        return Some(format!(
            "processes have no file in memory to hand on (memfd_create: {e})"
        ));
    }
    let program = std::env::current_exe().err()?;
    Some(format!(
        "this program cannot be started again (/proc/self/exe: {program})"
    ))
}

/// Runs this program again for each of the parts, with the arguments that it was given. `tell` gets the name of each.
pub fn run(parts: u32, tell: impl Fn(&str)) -> Result<Chain> {
    let mut chain = Chain::default();
    let mut handed = file()?;
    let mut so_far: Option<SoFar> = None;
    let mut missing: Vec<(String, Vec<Missing>)> = Vec::new();
    for index in 0..parts {
        let name = format!("process {} of {parts}", index + 1);
        if interrupt::asked() {
            let name = match parts - index {
                1 => name,
                _ => format!("processes {} to {parts}", index + 1),
            };
            chain
                .missing
                .push(lacks(&name, &format!("not begun before {}", interrupt::name())));
            break;
        }
        if so_far.as_ref().is_some_and(|so_far| so_far.ended) {
            break;
        }
        tell(&name);
        let written = file()?;
        let named = Named {
            index,
            of: parts,
            parent: std::process::id(),
            earlier: handed.as_raw_fd(),
            written: written.as_raw_fd(),
            side: Side::Alone,
        };
        let program = std::env::current_exe().map_err(|e| failed(&e))?;
        let status = end([&mut start(&program, named, Stdio::null())?])?[0];
        if !status.success() {
            chain.ended.push(status);
        }
        match read(written.try_clone().map_err(|e| failed(&e))?) {
            Ok(Some(Handed { so_far: Some(next), .. })) => {
                missing.push((name, next.record.missing.clone()));
                (handed, so_far) = (written, Some(next));
            }
            Ok(_) if interrupt::asked() => chain.missing.push(lacks(
                &name,
                &format!("ended by {} before its first result", interrupt::name()),
            )),
            // What ended it would end the next.
            Ok(_) => {
                chain
                    .missing
                    .push(lacks(&name, &format!("gave no record ({status}); its reason is above")));
                break;
            }
            Err(error) => {
                chain.missing.push(lacks(&name, &error.message));
                break;
            }
        }
    }
    chain.last = so_far.map(|mut so_far| {
        so_far.record.missing = of_parts(&missing);
        so_far.into()
    });
    Ok(chain)
}

pub(super) fn failed(e: &io::Error) -> Error {
    Error {
        possible: true,
        ..Error::system("starting this program again", e, "raise `ulimit -u`, or give --runs 1")
    }
}

pub(super) fn file() -> Result<File> {
    memfd::inherited(c"cyclewise-run").map_err(|e| failed(&e))
}

pub(super) fn lacks(part: &str, why: &str) -> Missing {
    Missing {
        experiment: part.to_string(),
        variant: None,
        why: why.to_string(),
        possible: true,
    }
}

/// Starts a part, with the arguments that this program was given.
pub(super) fn start(program: &Path, named: Named, stdin: Stdio) -> Result<Child> {
    let mut command = Command::new(program);
    command
        .args(std::env::args_os().skip(1))
        .env(VARIABLE, named.text())
        .stdin(stdin)
        // A terminal's Ctrl-C reaches this process only, which passes it on once: a second would lose the part.
        .process_group(0);
    // What the program itself prints is printed once, and not by one that is asked for its rows.
    let is_asked = named.of == 1 && named.side == Side::Alone;
    if named.index > 0 || named.side == Side::First || is_asked {
        command.stdout(Stdio::null());
    }
    command.spawn().map_err(|e| failed(&e))
}

/// Waits for the end of all; passes a signal that asks to end on to them.
pub(super) fn end<const N: usize>(mut children: [&mut Child; N]) -> Result<[ExitStatus; N]> {
    let mut told = false;
    loop {
        let mut ended = [None; N];
        for (child, ended) in children.iter_mut().zip(&mut ended) {
            *ended = child.try_wait().map_err(|e| failed(&e))?;
        }
        if ended.iter().all(Option::is_some) {
            return Ok(ended.map(Option::unwrap_or_default));
        }
        if let Some(asked) = interrupt::signal().filter(|_| !told) {
            children.iter().for_each(|child| process::send(child, asked));
            told = true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// What is missing of the parts: once if every part lacks it, with the part's name elsewhere.
pub(super) fn of_parts(parts: &[(String, Vec<Missing>)]) -> Vec<Missing> {
    let same = |a: &Missing, b: &Missing| a.experiment == b.experiment && a.variant == b.variant;
    let mut all: Vec<Missing> = Vec::new();
    for (name, missing) in parts {
        for m in missing {
            let everywhere = parts
                .iter()
                .all(|(_, others)| others.iter().any(|other| same(m, other)));
            if !everywhere {
                all.push(Missing {
                    why: format!("in {name}: {}", m.why),
                    ..m.clone()
                });
            } else if !all.iter().any(|known| same(known, m)) {
                all.push(m.clone());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_part_lacks_names_the_part() {
        let missing = |why: &str| Missing {
            experiment: "d".to_string(),
            why: why.to_string(),
            ..Missing::default()
        };
        let of = |second: Vec<Missing>| {
            of_parts(&[
                ("process 1".into(), vec![missing("it failed")]),
                ("process 2".into(), second),
            ])
        };
        assert_eq!(of(vec![])[0].why, "in process 1: it failed");
        assert_eq!(
            of(vec![missing("it failed too")]),
            [missing("it failed")],
            "once if all lack it"
        );
    }
}
