//! Boots an image under qemu's TCG, which emulates every instruction: what they do, and never what they cost.
//!
//! The results come over the debug console, and the end by the device that exits.
//!
//! # References
//! QEMU's documentation of `isa-debug-exit` (the status is twice the byte written, plus one) and of `-kernel` with a Multiboot image.

use crate::error::{Error, Result};
use crate::image::Image;
use crate::layout::{self, mailbox};
use crate::machine::Machine;
use crate::outcome::{Mailbox, Outcome};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The program, of Debian's package qemu-system-x86.
const PROGRAM: &str = "qemu-system-x86_64";
/// How often a run is looked at.
const POLL: Duration = Duration::from_millis(2);

/// An emulator of a whole PC.
pub struct Qemu {
    program: PathBuf,
}

impl Qemu {
    /// The one in PATH.
    ///
    /// # Errors
    /// Where there is none: the package that has it.
    pub fn find() -> Result<Self> {
        Self::find_in(&std::env::var_os("PATH").unwrap_or_default())
    }

    fn find_in(path: &OsStr) -> Result<Self> {
        let found = std::env::split_paths(path)
            .map(|folder| folder.join(PROGRAM))
            .find(|file| file.is_file());
        let program = found.ok_or_else(|| {
            Error::unsupported(format!(
                "there is no {PROGRAM} in PATH; install qemu-system-x86 (Debian) or QEMU"
            ))
        })?;
        Ok(Self { program })
    }

    /// Boots an image, and ends it after `limit`.
    ///
    /// # Errors
    /// Where qemu does not start, or ends in a way that no guest causes: its own message.
    pub fn run(&self, mut image: Image, limit: Duration) -> Result<Outcome> {
        image.dump();
        let file = image_file(&image)?;
        let child = self.command(file.path().as_os_str()).spawn();
        let mut child = child.map_err(|e| Error::unsupported(format!("{}: {e}", self.program.display())))?;
        let status = wait(&mut child, limit)?;
        let (mut console, mut errors) = (Vec::new(), String::new());
        let read = child.stdout.take().map(|mut out| out.read_to_end(&mut console));
        let said = child.stderr.take().map(|mut err| err.read_to_string(&mut errors));
        read.transpose().and(said.transpose()).map_err(|e| failed(&e))?;
        let Some(status) = status else {
            return Ok(Outcome::Watchdog { address: None });
        };
        // The console may have what the payload wrote: the mailbox is the last.
        let from = console.len().saturating_sub(mailbox::BYTES);
        match status.code() {
            Some(code) if is_end(code) => Ok(Outcome::of_mailbox(Mailbox(console.split_off(from)))),
            // Asked not to reboot, qemu ends where a PC would.
            Some(0) => Ok(Outcome::TripleFault { address: None }),
            _ => Err(Error::failed(format!(
                "{PROGRAM} ended with {status}: {}",
                one_line(&errors)
            ))),
        }
    }

    /// The program's path.
    pub fn program(&self) -> &std::path::Path {
        &self.program
    }

    fn command(&self, image: &OsStr) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
        command.args(["-machine", "pc", "-accel", "tcg", "-cpu", "max", "-m", "16"]);
        command.args([
            "-device",
            &format!("isa-debug-exit,iobase={:#x},iosize=1", layout::EXIT_PORT),
        ]);
        command.args(["-debugcon", "stdio"]);
        command.arg("-kernel").arg(image);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// The longest that a boot may take: a second is usual on a busy machine.
const BOOT_LIMIT: Duration = Duration::from_secs(60);

impl Machine for Qemu {
    fn run_once(&mut self, image: Image, _apic: bool) -> Result<Outcome> {
        self.run(image, BOOT_LIMIT)
    }
}

/// Whether an exit status is that of the device, for one of the two ways in which the runtime ends.
fn is_end(code: i32) -> bool {
    [mailbox::DONE, mailbox::FAULTED]
        .iter()
        .any(|status| code == (*status as i32) << 1 | 1)
}

fn image_file(image: &Image) -> Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new().map_err(|e| failed(&e))?;
    file.write_all(image.bytes()).map_err(|e| failed(&e))?;
    Ok(file)
}

/// Waits for the child; `None` where the limit was over and it was killed.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|e| failed(&e))? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            child.kill().and_then(|()| child.wait()).map_err(|e| failed(&e))?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

fn failed(cause: &std::io::Error) -> Error {
    Error::failed(format!(
        "a guest under {PROGRAM}: {cause}; see whether the disk or the process table is full"
    ))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::payload::{Mode, Ring};

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let error = Qemu::find_in(OsStr::new("/nowhere:/nothing")).err().unwrap();
        assert!(
            error.message.contains(PROGRAM) && error.message.contains("install qemu-system-x86"),
            "{error}"
        );
    }

    #[test]
    fn only_the_devices_statuses_are_ends_of_a_guest() {
        assert!(is_end(3) && is_end(5));
        assert!(!is_end(1) && !is_end(0) && !is_end(7));
    }

    /// A program that ends at once, in the place of qemu.
    fn stand_in(program: &str) -> Qemu {
        Qemu {
            program: program.into(),
        }
    }

    #[test]
    fn a_program_that_fails_is_no_guest() {
        let image = || Image::of_bytes(Mode::Long, Ring::Kernel, &[0xc3]).unwrap();
        let error = stand_in("/bin/false").run(image(), Duration::from_secs(5)).unwrap_err();
        assert!(error.message.contains("exit status: 1"), "{error}");
        let error = stand_in("/nowhere/qemu")
            .run(image(), Duration::from_secs(5))
            .unwrap_err();
        assert!(error.message.starts_with("/nowhere/qemu: "), "{error}");
    }
}
