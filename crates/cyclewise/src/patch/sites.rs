//! The LOCK sites of this link unit, from its table.
//!
//! # Safety
//! A record's address is a byte of this link unit's text (arch, `table`), mapped and readable while this code runs.
#![expect(unsafe_code, reason = "reads bytes of text by their address")]

use crate::arch;
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
    /// Neither: a breakpoint, or a byte that something else wrote.
    Other(u8),
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
        let at = core::ptr::with_exposed_provenance_mut::<u8>(self.0);
        // SAFETY: only `sites` makes a `Site`, from a record of this link unit, whose text stays mapped while this
        // runs. Other threads change the byte by atomic stores, and this only loads it.
        let byte = unsafe { AtomicU8::from_ptr(at) };
        // Relaxed: pairs with nothing; the byte may change right after the load.
        match byte.load(Ordering::Relaxed) {
            arch::LOCK => Prefix::Lock,
            arch::ELIDED => Prefix::Elided,
            other => Prefix::Other(other),
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
