//! This link unit's constructor and destructor, which the dynamic linker calls, and a static program's start-up code.
//!
//! # Invariants
//! 1. The unit is live from its constructor to its destructor (`unit`). Two copies of this crate in one link unit both have these
//!    functions, and C objects have their own: the first of each does it.
//!
//! # Safety
//! 1. Both run while the unit is mapped and relocated, with the dynamic linker's lock held. They wait for nobody who waits for
//!    that lock.
#![expect(unsafe_code, reason = "sections that the dynamic linker reads")]

use super::unit::Unit;
use crate::arch;

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = end;

/// This link unit's descriptor.
pub(super) fn own() -> &'static Unit {
    let at = arch::unit::own().cast::<Unit>();
    // SAFETY: the assembler laid it out for `Unit`, in writable data that stays mapped while this code runs.
    unsafe { &*at }
}

extern "C" fn begin() {
    own().begin();
}

extern "C" fn end() {
    if let Some(forget) = own().end() {
        // SAFETY: the coordinator wrote it for this descriptor, and is never unloaded.
        unsafe { forget(own()) };
    }
}
