//! W^X: which ways of changing text work here, tried on pages of our own that never run.
//!
//! Two kinds of page are tried, because policies distinguish them (SELinux: execmem, execmod): an anonymous one, and a
//! private copy of a page of this program's file, as when a program patches its own text.
//!
//! # Invariants
//! 1. A `Page` is one mapped page that nobody else knows.
//! 2. Nothing is ever executed from it.
//!
//! # Safety
//! Pages are touched only through the pointer of their mapping, within their length, while they are mapped and readable.
#![expect(unsafe_code, reason = "mprotect, prctl and volatile access to a page of our own")]

use super::errno::Errno;
use super::mmap::Mapping;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;

/// The smallest page of any target; one page is what the kernel rounds it up to.
const LENGTH: usize = 4096;
const READ_EXEC: i32 = libc::PROT_READ | libc::PROT_EXEC;
const READ_WRITE_EXEC: i32 = READ_EXEC | libc::PROT_WRITE;

/// Results for one kind of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    /// An R-X page made R-W-X by mprotect.
    pub rwx: Result<(), Errno>,
    /// An R-X page made R-W-, written, and made R-X again: never writable and executable at once.
    pub flip: Result<(), Errno>,
    /// An R-X page written through /proc/self/mem, and the byte read back.
    pub proc_mem: Result<(), Errno>,
}

/// Results for both kinds of page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Probes {
    pub anonymous: Result<Probe, Errno>,
    /// A private mapping of this program's file.
    pub program: Result<Probe, Errno>,
    /// prctl(PR_GET_MDWE): memory-deny-write-execute bits.
    pub mdwe: Result<u32, Errno>,
}

/// Tries all ways on fresh pages.
pub(crate) fn probe() -> Probes {
    let program = File::open("/proc/self/exe").map_err(|e| Errno::of_error(&e));
    // SAFETY: PR_GET_MDWE takes no pointer and only reports.
    let mdwe = unsafe { libc::prctl(libc::PR_GET_MDWE, 0, 0, 0, 0) };
    Probes {
        mdwe: u32::try_from(mdwe).map_err(|_| Errno::last()),
        anonymous: probe_pages(None),
        program: program.and_then(|file| probe_pages(Some(&file))),
    }
}

fn probe_pages(file: Option<&File>) -> Result<Probe, Errno> {
    Ok(Probe {
        rwx: Page::map(file)?.protect(READ_WRITE_EXEC),
        flip: Page::map(file)?.flip(),
        proc_mem: Page::map(file)?.write_proc_mem(),
    })
}

struct Page(Mapping);

impl Page {
    /// An R-X page.
    fn map(file: Option<&File>) -> Result<Self, Errno> {
        let mapped = Mapping::new(file, LENGTH, READ_EXEC, libc::MAP_PRIVATE);
        mapped.map(Self).map_err(|e| Errno::of_error(&e))
    }

    fn start(&self) -> *mut u8 {
        self.0.start().as_ptr()
    }

    fn protect(&self, protection: i32) -> Result<(), Errno> {
        // SAFETY: the page is ours alone (Invariant 1), and nothing uses the access that is taken away.
        let status = unsafe { libc::mprotect(self.start().cast(), LENGTH, protection) };
        if status == 0 { Ok(()) } else { Err(Errno::last()) }
    }

    fn flip(&self) -> Result<(), Errno> {
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        let changed = !self.first_byte();
        // SAFETY: mapped (Invariant 1), and writable since the line above.
        unsafe { self.start().write_volatile(changed) };
        self.protect(READ_EXEC)
    }

    fn write_proc_mem(&self) -> Result<(), Errno> {
        let memory = OpenOptions::new()
            .write(true)
            .open("/proc/self/mem")
            .map_err(|e| Errno::of_error(&e))?;
        let changed = !self.first_byte();
        memory
            .write_all_at(&[changed], self.start() as u64)
            .map_err(|e| Errno::of_error(&e))?;
        // A write that reports success and changes nothing must not pass for one that works.
        if self.first_byte() == changed {
            Ok(())
        } else {
            Err(Errno(libc::EIO))
        }
    }

    fn first_byte(&self) -> u8 {
        // SAFETY: mapped (Invariant 1), and readable under every protection used here. Volatile, because the kernel
        // changes it behind the compiler's back.
        unsafe { self.start().read_volatile() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_works_or_says_why_not() {
        let probes = probe();
        for kind in [probes.anonymous, probes.program] {
            let probe = kind.expect("a private R-X page can be mapped");
            for way in [probe.rwx, probe.flip, probe.proc_mem] {
                if let Err(errno) = way {
                    eprintln!("refused here: {errno}");
                }
            }
        }
    }

    #[test]
    fn the_programs_own_text_is_left_alone() {
        let file = File::open("/proc/self/exe").unwrap();
        let page = Page::map(Some(&file)).unwrap();
        let before = page.first_byte();
        if page.write_proc_mem().is_err() {
            eprintln!("skipped: /proc/self/mem is refused here");
            return;
        }
        assert_eq!(page.first_byte(), !before);
        let fresh = Page::map(Some(&file)).unwrap();
        assert_eq!(fresh.first_byte(), before, "the change must stay in the private copy");
    }
}
