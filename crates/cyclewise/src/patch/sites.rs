//! The LOCK sites of this link unit, from its table.
//!
//! Text may be execute-only, from the beginning or later: mprotect(2) with PROT_EXEC alone, a protection key. So the kernel is asked
//! about a page before its first byte is read.
//!
//! # Safety
//! A record's address is a byte of this link unit's text (arch, `table`), mapped while this code runs. It is read where the kernel can
//! read for this thread.
#![expect(unsafe_code, reason = "reads bytes of text by their address")]

use crate::arch::{self, valgrind};
use crate::sys::mprotect::PAGE;
use crate::sys::signal_mask;
use core::sync::atomic::{AtomicU8, Ordering};

/// One LOCK prefix that can be patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site(usize);

/// The byte at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// LOCK (F0).
    Lock,
    /// The DS override (3E).
    Elided,
    /// Neither: a breakpoint, or a byte that something else wrote. 0 where the text cannot be read.
    Other(u8),
}

/// Reads bytes of text that may be execute-only. Asks the kernel once for each page.
pub(super) struct TextReader {
    /// The page that was found readable last; 0 before.
    page: usize,
}

impl TextReader {
    pub(super) const fn new() -> Self {
        Self { page: 0 }
    }

    /// Whether the page of an address can be read.
    pub(super) fn can_read(&mut self, at: usize) -> bool {
        let page = at & !(PAGE - 1);
        // Valgrind makes a line of each question.
        if self.page != page && !valgrind::is_running() && !signal_mask::reads(page) {
            return false;
        }
        self.page = page;
        true
    }

    /// The byte at an address of text that stays mapped; `None` where it cannot be read.
    ///
    /// # Safety
    /// It is a byte of text, which others change by atomic stores only.
    pub(super) unsafe fn byte(&mut self, at: *mut u8) -> Option<u8> {
        if !self.can_read(at.addr()) {
            return None;
        }
        // SAFETY: the kernel could read the page just now, and the caller vouches for the rest.
        let byte = unsafe { AtomicU8::from_ptr(at) };
        // Relaxed: pairs with nothing; the byte may change right after the load.
        Some(byte.load(Ordering::Relaxed))
    }
}

impl Site {
    /// The address of the prefix.
    #[must_use]
    pub fn address(self) -> usize {
        self.0
    }

    /// The prefix there now.
    #[must_use]
    pub fn prefix(self) -> Prefix {
        self.prefix_by(&mut TextReader::new())
    }

    pub(super) fn prefix_by(self, reader: &mut TextReader) -> Prefix {
        let at = core::ptr::with_exposed_provenance_mut::<u8>(self.0);
        // SAFETY: only `sites` makes a `Site`, from a record of this link unit, whose text stays mapped while this
        // runs. Other threads change the byte by atomic stores, and this only loads it.
        match unsafe { reader.byte(at) } {
            Some(arch::LOCK) => Prefix::Lock,
            Some(arch::ELIDED) => Prefix::Elided,
            other => Prefix::Other(other.unwrap_or(0)),
        }
    }
}

/// The sites of this link unit, not those of others that are patched with it, in the order of its table. A site whose code the linker folded with another's appears
/// twice.
///
/// # Examples
/// ```
/// use cyclewise::patch::{Prefix, sites};
///
/// let elided = sites().filter(|site| site.prefix() == Prefix::Elided).count();
/// assert_eq!(elided, 0, "LOCK is in force until the program asks for a mode");
/// ```
pub fn sites() -> impl Iterator<Item = Site> {
    let addresses = arch::records().iter().filter_map(arch::Record::site);
    addresses.map(|at| Site(at.expose_provenance()))
}
