//! What the emulator calls: the plugin's installation, and each event afterwards.
//!
//! # Safety
//! 1. The emulator calls the functions below as its `qemu-plugin.h` says.
#![allow(unsafe_code, reason = "is called by the emulator")]

use crate::api::{self, Api, Callbacks, Info, Tb};
use crate::blocks::{self, Rules};
use crate::command_line::{Launcher, Origin};
use crate::descriptor;
use crate::handover::{self, Needs};
use crate::image::{self, Refusal, Run};
use crate::words::Access;
use crate::{fork, layout, memory, sys, syscalls, thread};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// The version of the plugins' interface. The command writes into the file what the emulator takes.
#[allow(non_upper_case_globals, reason = "the emulator looks for this name")]
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

static API: OnceLock<Api> = OnceLock::new();
static RULES: OnceLock<Rules> = OnceLock::new();

/// Called once, before the program is loaded. What it returns other than 0 ends the emulator.
///
/// # Safety
/// `info` and the `count` strings of `arguments` are the emulator's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const Info,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: the emulator's, for the duration of the call (Invariant 1).
    let info = unsafe { &*info };
    // SAFETY: as above, and it ends with a zero.
    let target = unsafe { CStr::from_ptr(info.target) };
    let mut words = Vec::new();
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: there are `count` pointers (Invariant 1).
        let word = unsafe { *arguments.wrapping_add(at) };
        // SAFETY: a string that ends with a zero (Invariant 1).
        words.push(unsafe { CStr::from_ptr(word) });
    }
    let value = |name: &[u8]| words.iter().find_map(|w| w.to_bytes().strip_prefix(name));
    if value(b"probe=").is_some() {
        // What the command asks before anything runs.
        println!("{} {} {}", target.to_string_lossy(), info.lowest, info.current);
        std::process::exit(0);
    }
    let Some(folder) = value(b"dir=") else {
        eprintln!("cyclewise's plugin was loaded without its options");
        return 1;
    };
    let origin = value(b"parent=").map_or(Origin::Command, |parent| Origin::Executed {
        parent: std::str::from_utf8(parent)
            .ok()
            .and_then(|p| p.parse().ok())
            .unwrap_or(0),
    });
    let arch = match target.to_bytes() {
        b"x86_64" => layout::ARCH_X86_64,
        b"aarch64" => layout::ARCH_AARCH64,
        _ => {
            eprintln!(
                "cyclewise's plugin does not know the architecture {}",
                target.to_string_lossy()
            );
            return 1;
        }
    };
    match begin(Path::new(std::ffi::OsStr::from_bytes(folder)), arch, origin) {
        Ok(()) => install(id, info.current),
        Err(status) => status,
    }
}

/// Begins the first image of this process; or what the installation gives back in place of it.
fn begin(folder: &Path, arch: u32, origin: Origin) -> Result<(), c_int> {
    let control = CString::new(folder.join(layout::CONTROL).as_os_str().as_bytes()).map_err(|_| 1)?;
    let control = match memory::map_record::<layout::Control>(&control) {
        Ok(control) if control.magic.load(Ordering::Acquire) == layout::CONTROL_MAGIC => control,
        // The program goes on, uncounted; that the emulator has not begun is in the file.
        Ok(_) | Err(_) if origin != Origin::Command => return Err(0),
        Ok(_) | Err(_) => {
            eprintln!(
                "cyclewise's plugin cannot use {}",
                folder.join(layout::CONTROL).display()
            );
            return Err(1);
        }
    };
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let emulator = std::fs::read_link("/proc/self/exe").unwrap_or_default();
    let (launcher, command) = Launcher::parse(emulator, folder.to_owned(), &line);
    let program = command.first().map(PathBuf::from).unwrap_or_default();
    let run = image::RUN.get_or_init(|| Run {
        needs: Needs::of(&launcher),
        launcher,
        control,
        arch,
        program: from_root(program),
        command,
        own_name: sys::thread_name(),
    });
    if descriptor::number(&run.program).is_some() {
        let line = format!(
            "incomplete: process {} executes a file without a name: its code is taken for generated code",
            std::process::id()
        );
        image::note(run, &line);
    }
    let is_first = control.started.swap(1, Ordering::AcqRel) == 0;
    let _ = RULES.set(Rules {
        arch,
        leave_out: control.leave_out.load(Ordering::Relaxed),
        callers: control.callers.load(Ordering::Relaxed) != 0,
    });
    let parent = match origin {
        Origin::Command => 0,
        Origin::Executed { parent } => parent,
    };
    let (_, begun) = image::begin(run, parent);
    if origin != Origin::Command {
        handover::begun(control);
    }
    match begun {
        Err(Refusal::Error(error)) if is_first => {
            control.first_error.store(error.cast_unsigned(), Ordering::Relaxed);
            // Nothing has run yet, and nothing would be counted. The command says why.
            std::process::exit(1);
        }
        // The program goes on, uncounted; the control file knows.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The path from the root, and the file itself where the path is a descriptor's, which means nothing to others.
fn from_root(program: PathBuf) -> PathBuf {
    let path = if program.starts_with("/proc") || program.starts_with("/dev/fd") {
        std::fs::canonicalize(&program)
    } else {
        std::path::absolute(&program)
    };
    path.unwrap_or(program)
}

fn install(id: u64, version: c_int) -> c_int {
    let callbacks = Callbacks {
        block: on_block,
        site: on_site,
        memory: on_memory,
    };
    match Api::find(version, callbacks) {
        Ok(api) => {
            let api = API.get_or_init(|| api);
            if !fork::follow() {
                eprintln!("cyclewise's plugin cannot follow forks");
                return 1;
            }
            api.on_translation(id, on_translation);
            api.on_calls(id, on_call, on_return);
            0
        }
        Err(name) => {
            eprintln!("the emulator has no function {}", name.to_string_lossy());
            1
        }
    }
}

extern "C" fn on_translation(_id: u64, tb: Tb) {
    if let (Some(api), Some(rules)) = (API.get(), RULES.get()) {
        blocks::translated(api, *rules, tb);
    }
}

extern "C" fn on_block(vcpu: c_uint, data: *mut c_void) {
    thread::with(vcpu, |thread| thread.block(api::block(data)));
}

extern "C" fn on_site(vcpu: c_uint, data: *mut c_void) {
    thread::with(vcpu, |thread| thread.site(api::site(data)));
}

extern "C" fn on_memory(vcpu: c_uint, info: u32, address: u64, data: *mut c_void) {
    let Some(api) = API.get() else { return };
    // A load whose store faults is executed again. With one thread the emulator executes both apart.
    if !api.has_stored(info) {
        return;
    }
    let site = api::site(data);
    let access = Access {
        site,
        address,
        host: blocks::host(address),
        bytes: api.access_bytes(info),
    };
    thread::with(vcpu, |thread| thread.accessed(access));
}

#[allow(clippy::too_many_arguments, reason = "the emulator's signature")]
extern "C" fn on_call(
    _id: u64,
    vcpu: c_uint,
    number: i64,
    a1: u64,
    a2: u64,
    a3: u64,
    a4: u64,
    a5: u64,
    _a6: u64,
    _a7: u64,
    _a8: u64,
) {
    syscalls::before(vcpu, number, [a1, a2, a3, a4, a5]);
}

extern "C" fn on_return(_id: u64, _vcpu: c_uint, number: i64, result: i64) {
    syscalls::after(number, result);
}
