//! Counting by qemu's user-mode emulator: exact, and without any privilege.

use super::args::By;
use super::program::Program;
use super::way::{CountedRun, Launch, Way};
use crate::counts::Arch;
use crate::emulator::{self, Emulator, Settings};
use crate::error::{Error, Result};
use std::cell::OnceCell;
use std::io::Read;
use std::path::PathBuf;

/// The architecture of this machine's programs.
pub(super) const MACHINE: Arch = if cfg!(target_arch = "aarch64") {
    Arch::Aarch64
} else {
    Arch::X86_64
};

/// The architecture of a program: this machine's, unless its file says that it is for the other one.
pub(super) fn arch_of(program: &Program) -> Arch {
    let mut head = [0; 20];
    let read = std::fs::File::open(&program.path).and_then(|mut file| file.read_exact(&mut head));
    match (read, &head[..5], head[18]) {
        (Ok(()), b"\x7fELF\x02", 183) => Arch::Aarch64,
        (Ok(()), b"\x7fELF\x02", 62) => Arch::X86_64,
        _ => MACHINE,
    }
}

/// The emulator of a program's architecture, looked for once.
pub(super) struct ByEmulator {
    arch: Arch,
    /// Where that architecture's libraries are.
    sysroot: Option<PathBuf>,
    found: OnceCell<Emulator>,
}

impl ByEmulator {
    pub(super) fn new(program: &Program, sysroot: Option<PathBuf>) -> Self {
        Self {
            arch: arch_of(program),
            sysroot,
            found: OnceCell::new(),
        }
    }

    fn emulator(&self) -> Result<&Emulator> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = emulator::find(self.arch).map_err(Error::in_one_line)?;
        Ok(self.found.get_or_init(|| found))
    }
}

impl Way for ByEmulator {
    fn by(&self) -> By {
        By::Emulator
    }

    fn ready(&self) -> Result<()> {
        self.emulator().map(drop)
    }

    fn check(&self, program: &Program) -> Result<()> {
        emulator::check_program(&program.named, self.arch, self.sysroot.as_deref())
            .map(drop)
            .map_err(Error::in_one_line)
    }

    fn run(&self, launch: &Launch<'_>) -> Result<CountedRun> {
        let launch = emulator::Launch {
            program: launch.program.named.clone(),
            arguments: launch.program.arguments.clone(),
            emulator: self.emulator()?.clone(),
            settings: Settings {
                images: launch.processes,
                callers: launch.callers,
                interpreter_root: self.sysroot.clone(),
                ..Settings::default()
            },
        };
        let ran = emulator::run(&launch).map_err(Error::in_one_line)?;
        Ok(CountedRun {
            status: ran.status,
            asked_to_end: ran.asked_to_end,
            counts: ran.counts,
            notes: Vec::new(),
        })
    }
}
