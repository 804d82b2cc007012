//! Programs that the program executes: the emulator would have the kernel run them, uncounted, so they are executed here, by
//! another emulator with the same plugin.
//!
//! Where that is not possible the emulator goes on as it would, and a line says what was not counted and why. Where the kernel
//! would refuse the program, the emulator goes on too, and the program sees the kernel's own error.

use crate::blocks::host;
use crate::command_line::{self, Origin};
use crate::descriptor::{self, Opened};
use crate::handover::Start;
use crate::image::{self, Run};
use crate::layout::{ARCH_X86_64, END_EXECUTED};
use crate::program::{self, EM_AARCH64, EM_X86_64, Obstacle};
use crate::sys;
use std::ffi::{CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

const AT_FDCWD: i32 = -100;
const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
const AT_EMPTY_PATH: u64 = 0x1000;
/// Linux's limit of one string (`MAX_ARG_STRLEN`).
const STRING: usize = 128 << 10;
/// Linux's limit of all of them, with the largest stack it takes into account (`bprm_stack_limits`: 6 MiB).
const STRINGS: usize = 6 << 20;

/// A program is to be executed: the path at `path`, below the descriptor `folder` if there is one, and the arrays of arguments
/// and of the environment. Comes back where it was not.
pub fn attempt(folder: Option<u64>, path: u64, arrays: [u64; 2], flags: u64) {
    let Some(run) = image::RUN.get() else { return };
    let Some(given) = string(path) else { return };
    let Some(opened) = located(run, folder, given, flags) else {
        return;
    };
    let path = &opened.path;
    let (Some(arguments), Some(environment)) = (strings(arrays[0]), strings(arrays[1])) else {
        return;
    };
    if let Some(why) = execute(run, path, arguments, environment) {
        image::note(run, &format!("not counted: {}: {why}", path.display()));
    }
    // The emulator tries now. What comes back is a failure: see `syscalls::after`.
    image::set_end(END_EXECUTED);
}

/// Executes the program; comes back with why it was not counted, or with nothing where the kernel's own error is the answer.
fn execute(run: &Run, path: &Path, mut arguments: Vec<OsString>, environment: Vec<OsString>) -> Option<String> {
    let machine = if run.arch == ARCH_X86_64 { EM_X86_64 } else { EM_AARCH64 };
    // The kernel gives a program without arguments an empty one.
    let argv0 = if arguments.is_empty() {
        OsString::new()
    } else {
        arguments.remove(0)
    };
    let program = match program::resolve(path, &argv0, machine, run.launcher.root.as_deref()) {
        Ok(program) => program,
        // A descriptor has a path only where there is a /proc.
        Err(Obstacle::Absent) if descriptor::number(path).is_some() && !Path::new("/proc/self/fd").exists() => {
            return Some("it is executed by a descriptor, in a process that has no /proc".to_owned());
        }
        Err(obstacle) if obstacle.is_the_kernels() => return None,
        Err(obstacle @ Obstacle::Machine(_)) if run.launcher.root.is_some() => {
            return Some(format!("{obstacle}, started by one that is not"));
        }
        Err(obstacle) => return Some(obstacle.to_string()),
    };
    if run.control.images.load(Ordering::Relaxed) >= run.control.limit.load(Ordering::Relaxed) {
        run.control.refused.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    if let Some(obstacle) = run.needs.obstacle() {
        return Some(obstacle);
    }
    let parent = image::lock().header.map_or(0, |h| h.parent.load(Ordering::Relaxed));
    let call = match run
        .launcher
        .call(Origin::Executed { parent }, &program, arguments, environment)
    {
        Ok(call) => call,
        Err(variable) => return Some(command_line::comma(&variable)),
    };
    let emulator = CString::new(run.launcher.emulator.as_os_str().as_bytes()).ok()?;
    let strings = |all: Vec<OsString>| -> Option<Vec<CString>> {
        all.into_iter().map(|s| CString::new(s.into_vec()).ok()).collect()
    };
    let name = vec![run.launcher.emulator.clone().into_os_string()];
    let argv = strings(name.into_iter().chain(call.arguments).collect())?;
    let envp = strings(call.environment)?;
    let start = Start::new(run.control)?;
    image::set_end(END_EXECUTED);
    let error = sys::execute(&emulator, &argv, &envp);
    drop(start);
    Some(format!("the emulator could not be executed for it (error {error})"))
}

/// The program as this process would open it; none where the kernel has to say what is wrong with it.
fn located(run: &Run, folder: Option<u64>, given: OsString, flags: u64) -> Option<Opened> {
    if flags & !(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0 {
        return None;
    }
    if is_own_program(&given) {
        if !run.program.exists() {
            // The emulator knows it by its name only, as this plugin does.
            let program = run.program.display();
            image::note(
                run,
                &format!(
                    "not run: {program}: it executes itself after its file has been removed, which the emulator cannot do"
                ),
            );
            return None;
        }
        return Some(Opened::named(run.program.clone()));
    }
    let path = PathBuf::from(&given);
    let folder = folder
        .map(|f| (f & 0xffff_ffff) as u32 as i32)
        .filter(|f| *f != AT_FDCWD);
    let path = match folder {
        None if given.is_empty() => return None,
        _ if path.is_absolute() => path,
        None => path,
        Some(folder) if given.is_empty() => {
            // The kernel does not have an interpreter open what exec closes.
            let is_lost = sys::closes_at_exec(folder) && descriptor::is_script(&descriptor::link(folder));
            if flags & AT_EMPTY_PATH == 0 || is_lost {
                return None;
            }
            return Some(Opened::of(folder, PathBuf::from(format!("/dev/fd/{folder}"))));
        }
        Some(folder) => std::fs::read_link(descriptor::link(folder)).ok()?.join(path),
    };
    if flags & AT_SYMLINK_NOFOLLOW != 0 && path.symlink_metadata().is_ok_and(|m| m.is_symlink()) {
        return None;
    }
    Some(match descriptor::number(&path) {
        Some(fd) => Opened::of(fd, path),
        None => Opened::named(path),
    })
}

/// Whether the path is one by which a process names its own program: here that would be the emulator.
fn is_own_program(path: &OsStr) -> bool {
    let own = format!("/proc/{}/exe", std::process::id());
    let thread = format!("/proc/{}/task/{}/exe", std::process::id(), sys::thread_number());
    ["/proc/self/exe", "/proc/thread-self/exe", own.as_str(), thread.as_str()]
        .iter()
        .any(|name| path == OsStr::new(name))
}

/// A string of the program.
fn string(address: u64) -> Option<OsString> {
    let page = sys::page_size();
    let mut bytes: Vec<u8> = Vec::new();
    let mut at = host(address);
    if address == 0 {
        return None;
    }
    while bytes.len() <= STRING {
        // Not into the next page, which may not be there.
        let mut part = vec![0; usize::try_from((page - at % page).min(256)).ok()?];
        if sys::peek(at, &mut part) != part.len() {
            return None;
        }
        if let Some(end) = part.iter().position(|b| *b == 0) {
            bytes.extend(&part[..end]);
            return Some(OsString::from_vec(bytes));
        }
        at = at.checked_add(part.len() as u64)?;
        bytes.extend(part);
    }
    None
}

/// An array of strings of the program.
fn strings(address: u64) -> Option<Vec<OsString>> {
    let mut all = Vec::new();
    let mut size = 0;
    if address == 0 {
        return Some(all);
    }
    for at in 0.. {
        let mut pointer = [0; 8];
        if sys::peek(host(address.checked_add(at * 8)?), &mut pointer) != pointer.len() {
            return None;
        }
        let pointer = u64::from_le_bytes(pointer);
        if pointer == 0 {
            break;
        }
        let string = string(pointer)?;
        size += string.len() + 9;
        if size > STRINGS {
            return None;
        }
        all.push(string);
    }
    Some(all)
}
