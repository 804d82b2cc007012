//! The sites of this link unit, as its table lists them.
//!
//! # Safety
//! A record's address is a byte of this link unit's text (arch, `table`), mapped and readable while this code runs.
#![expect(unsafe_code, reason = "reads bytes of text by their address")]

use crate::arch;
use core::sync::atomic::{AtomicU8, Ordering};

/// One LOCK prefix that can be patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site(usize);

/// What stands at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// LOCK (F0).
    Lock,
    /// The DS override (3E).
    Elided,
    /// Neither: a breakpoint, or another patcher's byte.
    Other(u8),
}

impl Site {
    /// The address of the prefix.
    #[must_use]
    pub fn address(self) -> usize {
        self.0
    }

    /// What stands there now.
    #[must_use]
    pub fn prefix(self) -> Prefix {
        let at = core::ptr::with_exposed_provenance_mut::<u8>(self.0);
        // SAFETY: only `sites` makes one, of a record of this link unit, whose text stays mapped while this runs. Other
        // threads change it by atomic stores, and it is only loaded here.
        let byte = unsafe { AtomicU8::from_ptr(at) };
        // Relaxed: pairs with nothing; the byte may have changed when it is looked at.
        match byte.load(Ordering::Relaxed) {
            arch::LOCK => Prefix::Lock,
            arch::ELIDED => Prefix::Elided,
            other => Prefix::Other(other),
        }
    }
}

/// The sites of this link unit, in the order of its table; a site whose code was merged with another's comes twice.
pub fn sites() -> impl Iterator<Item = Site> {
    let addresses = arch::records().iter().filter_map(arch::Record::site);
    addresses.map(|at| Site(at.expose_provenance()))
}
