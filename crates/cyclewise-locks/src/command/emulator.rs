//! Counting by qemu's user-mode emulator: exact, and without any privilege.

use super::args::By;
use super::program::Program;
use super::way::{CountedRun, Launch, Way};
use crate::counts::Arch;
use crate::emulator::{self, Emulator, Settings};
use crate::error::{Error, Result};
use std::cell::OnceCell;

/// The architecture of this machine's programs.
pub(super) const ARCH: Arch = if cfg!(target_arch = "aarch64") {
    Arch::Aarch64
} else {
    Arch::X86_64
};

/// The emulator, looked for once.
#[derive(Default)]
pub(super) struct ByEmulator {
    found: OnceCell<Emulator>,
}

impl ByEmulator {
    fn emulator(&self) -> Result<&Emulator> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let found = emulator::find(ARCH).map_err(Error::in_one_line)?;
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
        emulator::check_program(&program.named, ARCH, None)
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
