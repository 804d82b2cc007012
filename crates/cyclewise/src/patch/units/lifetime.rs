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

use crate::patch::coordinator;
use crate::patch::unit::own;

#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn() = begin;

#[used]
#[unsafe(link_section = ".fini_array")]
static DESTRUCTOR: extern "C" fn() = end;

extern "C" fn begin() {
    let Some(unit) = own() else { return };
    unit.begin();
    // A coordinator that does not take it at once finds it the next time it elides.
    let _ = coordinator::register(unit);
}

extern "C" fn end() {
    let Some(unit) = own() else { return };
    if let Some(forget) = unit.end() {
        // SAFETY: the coordinator's, for this descriptor.
        unsafe { forget(unit) };
    }
}
