//! The coordinator: the copy of this crate that adopts the process's link units, because its hooks of thread creation are in force.
//!
//! # Invariants
//! 1. There is one in a process: a name is bound to one hook.
//! 2. It is never unloaded, so functions of it that others hold stay valid.
//! 3. A newcomer's sites are elided only while those of the others are, by the holder of the mode lock. A unit's constructor does
//!    not wait for that lock: where it is taken, LOCK stays in the newcomer until the next elision.
//! 4. A unit's destructor waits for the mode lock. Whoever holds it waits for nothing that the dynamic linker's lock protects.
//!
//! # A unit that cannot be restored
//! Where a sandbox lets nobody write text, a destructor cannot restore LOCK in its unit, whose code may still run: at exit, nothing is
//! unmapped. Then the mode stays in force for good, and threads are refused, as they would be without the destructor.
//!
//! # Safety
//! Descriptors that others pass are checked against what the dynamic linker lists, before anything in them is believed.
#![expect(unsafe_code, reason = "functions that other link units call")]

use crate::error::Refusal;
use crate::patch::edits::Room;
use crate::patch::mode_lock::{self, CONFINED, ModeData, SINGLE};
use crate::patch::text::Others;
use crate::patch::unit::hosted::adoption::{adopt_all, each_unit, examine, remember};
use crate::patch::unit::hosted::registry::{self, Slot};
use crate::patch::unit::hosted::table::Operations;
use crate::patch::unit::{Unit, own};
use crate::sys::dl;
use core::ffi::c_int;
use core::sync::atomic::AtomicPtr;
use core::sync::atomic::Ordering::{Acquire, Release};

/// Lets other units find this copy, whose hooks are in force, unless it may be unloaded (Invariant 2).
pub(super) fn coordinate(operations: &'static Operations) {
    // A hook that is in force is in an object that was there when the program started. This code may be in another.
    if let Some(own) = own().filter(|_| dl::stay_loaded()) {
        own.coordinate(adopt, operations);
    }
}

/// Adopts the units that are there. Before the mode lock is taken.
pub(in crate::patch) fn adopt_present() {
    if let Some(own) = own() {
        examine(own);
    }
    // A unit that is refused keeps LOCK.
    let _ = adopt_all(forget, core::ptr::null());
}

/// Elides in the units that were adopted since the others were elided; true where all in the registry are elided now.
pub(in crate::patch) fn elide_newcomers(data: &mut ModeData, room: &mut Room) -> Result<bool, Refusal> {
    let others = match mode_lock::mode() {
        SINGLE => Others::None,
        CONFINED => Others::Asked,
        _ => return Ok(false),
    };
    // SAFETY: the mode that allows elided sites is in force, and the caller holds its lock. In single mode this thread is the only
    // one, and its hooks restore LOCK before it creates another.
    unsafe { data.edits.elide_more(room, others) }
}

/// Adopts a unit at the request of its constructor. 1: its sites are elided now; 0: LOCK stays in them for now; -1: it is refused.
extern "C" fn adopt(unit: *const Unit) -> c_int {
    match register_here(unit) {
        Ok(elided) => c_int::from(elided),
        // They may go away.
        Err(Refusal::Breakpoint { .. } | Refusal::NoMemory) => 0,
        Err(_) => -1,
    }
}

/// The same in this copy.
fn register_here(unit: *const Unit) -> Result<bool, Refusal> {
    if own().is_some_and(|own| core::ptr::eq(own, unit)) {
        return Ok(false);
    }
    remember(unit);
    let walked = adopt_all(forget, unit)?;
    if registry::slot_of(unit).is_none() {
        let unlisted = Err(Refusal::BadUnit { at: unit.addr() });
        return if walked { unlisted } else { Ok(false) };
    }
    // It is adopted: what fails from here on is done by the next elision. Before the lock, and freed after it.
    let Ok(mut room) = Room::new() else {
        return Ok(false);
    };
    let Ok(Some(mut guard)) = mode_lock::try_lock() else {
        return Ok(false);
    };
    let _ = elide_newcomers(guard.data(), &mut room);
    Ok(registry::slot_of(unit).is_some_and(Slot::is_elided))
}

/// What an adopted unit's destructor calls: when it returns, nothing of the unit is read or written any more.
unsafe extern "C" fn forget(unit: *const Unit) {
    // The calling thread holds the lock only where a signal handler that interrupted a change of the text ends the process.
    if let Ok(mut guard) = mode_lock::lock() {
        // Under the lock: another destructor of the unit may have freed it.
        let Some(slot) = registry::slot_of(unit) else {
            return;
        };
        let others = match mode_lock::mode() {
            SINGLE => Others::None,
            _ => Others::Asked,
        };
        // SAFETY: in single mode the calling thread is the only one that can run.
        unsafe { guard.data().edits.forget(slot, others) };
        slot.free();
        // SAFETY: the destructor of this unit waits for this function.
        unsafe { &*unit }.leave();
    }
}

/// The descriptor of the process's coordinator: found once, as it is never unloaded (Invariant 2).
pub(super) fn coordinator() -> Option<&'static Unit> {
    static FOUND: AtomicPtr<Unit> = AtomicPtr::new(core::ptr::null_mut());
    // Acquire: pairs with the Release below.
    let mut unit = FOUND.load(Acquire);
    if unit.is_null() {
        each_unit(|_, at| {
            // SAFETY: null, or `each_unit` has checked where it lies.
            if unsafe { at.as_ref() }.is_some_and(|found| found.adopt().is_some()) {
                unit = at;
            }
        });
        FOUND.store(unit, Release);
    }
    // SAFETY: null, or the descriptor of the coordinator.
    unsafe { unit.as_ref() }
}

/// Asks the coordinator, if there is one, to adopt a unit.
pub(in crate::patch) fn register(unit: &Unit) -> Result<bool, Refusal> {
    let Some(coordinator) = coordinator() else {
        // This copy may be one later.
        remember(unit);
        return Ok(false);
    };
    if own().is_some_and(|own| core::ptr::eq(own, coordinator)) {
        return register_here(unit);
    }
    let Some(adopt) = coordinator.adopt() else {
        return Ok(false);
    };
    // SAFETY: the coordinator's function, which checks what it is given.
    match unsafe { adopt(unit) } {
        -1 => Err(unit.bad()),
        elided => Ok(elided == 1),
    }
}
