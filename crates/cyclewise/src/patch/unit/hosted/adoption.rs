//! Finds link units by their notes, and adopts those that are live. A unit whose note was stripped, or moved out of its segment, is found
//! where its constructor has registered it: then or, if there was no coordinator yet, the next time that one looks.
//!
//! # Invariants
//! 1. A unit is examined inside the dynamic linker's callback, during which nothing is unmapped. Once its state is `ADOPTED`, its
//!    destructor waits for the coordinator, so it stays mapped after that.
//! 2. Only a live unit's words are read: it is relocated.
//! 3. Nothing here waits for a lock of this crate. Who holds such a lock may be waited for by a thread that holds the dynamic
//!    linker's.
//! 4. A unit is adopted only if its descriptor stays writable, and its table is in its own read-only data and names LOCK prefixes in
//!    its own text, which is mapped as text and not shared with other processes. Else it keeps LOCK, and is looked at again the next time.
//!
//! # Forks
//! Fork copies memory page by page while other threads run. The state of the unit and that of the slot are in different pages: the slot
//! becomes ready after the walk, whose end waits until a fork in progress has copied all. So a child that has the slot has the unit's
//! state. A child that may not walk (`sys::loaded_objects`) adopts nothing: units that were not adopted keep LOCK.
//!
//! # Safety
//! What is read lies in segments of listed objects that can be read (Invariant 1).
#![expect(unsafe_code, reason = "descriptors and tables of other link units, by their address")]

use super::registry::{self, Claim, Newcomer};
use super::states::Forget;
use crate::arch::text_lock::Words;
use crate::arch::{self, Record};
use crate::error::Refusal;
use crate::patch::canary::{Canary, MOVED, WHOLE};
use crate::patch::sites::TextReader;
use crate::patch::text_edit::unexpected_byte;
use crate::patch::unit::{Unit, own};
use crate::sys::loaded_objects::{self, Object};
use crate::sys::proc_maps;
use core::ops::Range;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

const NOTE_NAME: &[u8] = b"cyclewise\0";
const NOTE_TYPE: u32 = 1;

/// How many units have registered without a note at most, and were not adopted; others are found by their notes alone. A guess.
const MOST_UNLISTED: usize = 64;

/// Descriptors that constructors have passed. One that a note leads to is taken out, and so is one that is in no object any more, by a
/// [`Sweep`].
static REGISTERED: [AtomicPtr<Unit>; MOST_UNLISTED] = [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST_UNLISTED];

/// How many units the last walk saw, and how many of those keep LOCK.
static SEEN: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// Keeps the descriptor of a unit for the next walk.
pub(in crate::patch) fn remember(unit: *const Unit) {
    if !place(unit.cast_mut()) {
        // Objects that were closed may have left theirs.
        each_unit(|_, _| ());
        place(unit.cast_mut());
    }
}

/// Whether there was room. Relaxed, here and in [`Sweep`]: the address alone is passed on, in one word.
fn place(unit: *mut Unit) -> bool {
    let stores = |place: &AtomicPtr<Unit>, old| place.compare_exchange(old, unit, Relaxed, Relaxed).is_ok();
    let is_there = |place: &AtomicPtr<Unit>| match place.load(Relaxed) {
        // A sweep is to find it again: the object before it at this address may be gone.
        // A walk may have found it meanwhile, and taken the mark away.
        found if found == suspect(unit) => stores(place, found) || registered(place) == unit,
        found => found == unit,
    };
    REGISTERED.iter().any(is_there) || REGISTERED.iter().any(|place| stores(place, core::ptr::null_mut()))
}

/// A mark, in the lowest bit of a descriptor's address, on what a sweep has not found yet.
fn suspect(unit: *mut Unit) -> *mut Unit {
    unit.map_addr(|at| at | 1)
}

/// The descriptor in a place, marked or not.
fn registered(place: &AtomicPtr<Unit>) -> *mut Unit {
    place.load(Relaxed).map_addr(|at| at & !1)
}

/// Takes out what no object has: what was there before a walk, and is not found by it. One sweep at a time, so that none takes a mark
/// for its own; other walks are none. A child of a fork inside one makes none.
struct Sweep;

static SWEEPING: AtomicBool = AtomicBool::new(false);

impl Sweep {
    fn begin() -> Option<Self> {
        // Acquire: pairs with the Release in `end`, so that the marks of the sweep before are gone.
        if SWEEPING.swap(true, Acquire) {
            return None;
        }
        for place in &REGISTERED {
            let unit = place.load(Relaxed);
            if !unit.is_null() {
                let _ = place.compare_exchange(unit, suspect(unit), Relaxed, Relaxed);
            }
        }
        Some(Self)
    }

    fn end(self, walked: bool) {
        for place in REGISTERED.iter().filter(|_| walked) {
            let unit = place.load(Relaxed);
            if unit.addr() & 1 != 0 {
                let _ = place.compare_exchange(unit, core::ptr::null_mut(), Relaxed, Relaxed);
            }
        }
        // Release: pairs with the Acquire in `begin`.
        SWEEPING.store(false, Release);
    }
}

/// How many units the last walk saw, the coordinator's own among them, and how many of those keep LOCK.
pub(in crate::patch) fn seen() -> [usize; 2] {
    SEEN.each_ref().map(|count| count.load(Relaxed)) // Relaxed: for diagnostics.
}

/// Shows `visit` the descriptor of each unit that is listed in the caller's namespace, or null for one of another layout. False where it
/// could not, or a fork may be in progress that began before this ended.
pub(in crate::patch) fn each_unit(mut visit: impl FnMut(&Object<'_>, *mut Unit)) -> bool {
    let sweep = Sweep::begin();
    let walked = loaded_objects::each(|object| {
        let mut last = core::ptr::null_mut();
        object.notes(NOTE_NAME, NOTE_TYPE, |contents| {
            let Ok(distance) = <[u8; 4]>::try_from(contents) else {
                return;
            };
            let distance = i32::from_ne_bytes(distance) as isize;
            let at = contents.as_ptr().addr().wrapping_add_signed(distance);
            let unit = core::ptr::with_exposed_provenance_mut::<Unit>(at);
            // A note may be there twice.
            if unit != last {
                last = unit;
                for place in &REGISTERED {
                    // Again where its mark came or went meanwhile.
                    while registered(place) == unit {
                        for found in [unit, suspect(unit)] {
                            let _ = place.compare_exchange(found, core::ptr::null_mut(), Relaxed, Relaxed);
                        }
                    }
                }
                let known = is_descriptor(object, unit);
                visit(object, if known { unit } else { core::ptr::null_mut() });
            }
        });
        for place in &REGISTERED {
            let unit = registered(place);
            if !unit.is_null() && is_descriptor(object, unit) {
                let _ = place.compare_exchange(suspect(unit), unit, Relaxed, Relaxed);
                visit(object, unit);
            }
        }
        true
    });
    if let Some(sweep) = sweep {
        sweep.end(walked);
    }
    walked
}

/// Whether there is a descriptor of this version's layout in data of the object.
fn is_descriptor(object: &Object<'_>, unit: *const Unit) -> bool {
    let end = unit.addr().saturating_add(size_of::<Unit>());
    let is_data = unit.is_aligned() && object.is_writable(&(unit.addr()..end));
    // SAFETY: in a segment that can be written (Invariant 1). Any bytes are a descriptor.
    is_data && unsafe { &*unit }.check().is_ok()
}

/// Adopts every live unit that is listed, but this copy's own. Gives what was refused for `wanted`, and whether it looked.
pub(in crate::patch) fn adopt_all(forget: Forget, wanted: *const Unit) -> Result<bool, Refusal> {
    let mut outcome = Ok(());
    let claim = Claim::new();
    let mut seen = [0; 2];
    let walked = each_unit(|object, unit| {
        let adopted = if unit.is_null() {
            Err(Refusal::BadUnit { at: 0 })
        } else {
            adopt(object, unit, forget, &claim)
        };
        let keeps_lock = adopted.is_err() || !is_patched(unit);
        seen = [seen[0] + 1, seen[1] + usize::from(keeps_lock)];
        if unit.cast_const() == wanted {
            outcome = adopted;
        }
    });
    // See "Forks". Where it is unknown, they stay claimed, with LOCK, until their destructors free them.
    if walked {
        claim.publish();
    }
    for (count, found) in SEEN.iter().zip(seen) {
        count.store(found, Relaxed); // Relaxed: for diagnostics.
    }
    outcome.map(|()| walked)
}

/// Whether a unit's sites are patched with this copy's, or are this copy's.
fn is_patched(unit: *mut Unit) -> bool {
    // SAFETY: `each_unit` has checked where it lies (Invariant 1).
    let start = unsafe { &*unit }.lock[0].load(Acquire);
    start.cast_const() == arch::records().as_ptr().cast() || registry::slot_of(unit).is_some()
}

/// Adopts a unit, unless it is not live or adopted already.
fn adopt(object: &Object<'_>, at: *mut Unit, forget: Forget, claim: &Claim) -> Result<(), Refusal> {
    // SAFETY: `each_unit` has checked where it lies (Invariant 1).
    let unit = unsafe { &*at };
    let coordinates = |own: &&Unit| own.adopt().is_some() && !core::ptr::eq(*own, unit);
    let Some(coordinator) = own().filter(coordinates).filter(|_| unit.is_live()) else {
        return Ok(());
    };
    let bad = Err(unit.bad());
    // Acquire: the dynamic linker wrote them before the unit was live.
    let [start, stop] = unit.lock.each_ref().map(|word| word.load(Acquire).cast_const());
    if start == arch::records().as_ptr().cast() {
        return Ok(());
    }
    let table = start..stop;
    let is_table = start.is_aligned() && stop.is_aligned() && object.is_readable(&(start.addr()..stop.addr()));
    let words = unit.text_lock();
    let end = words.addr().saturating_add(size_of::<Words>());
    let has_words = words.is_null() || words.is_aligned() && object.is_writable(&(words.addr()..end));
    if !is_table || !has_words || registry::overlaps(&table) {
        return bad;
    }
    let canary = unit.canary();
    let has_canary = canary.is_null() || is_canary(object, canary);
    if !has_canary {
        return bad;
    }
    // SAFETY: null, or checked just now (Invariant 1).
    if let Some(canary) = unsafe { canary.as_ref() } {
        examine_in(object, unit, canary);
        if canary.knows(MOVED) {
            return Err(Refusal::MovedText { at: canary.bytes() });
        }
    }
    let count = match sites_of(object, &table) {
        Ok(count) => count,
        Err(Some(refusal)) => return Err(refusal),
        Err(None) => return bad,
    };
    let newcomer = Newcomer {
        unit: at,
        object: object.bounds(),
        table,
        count,
        words,
    };
    let slot = claim.slot(&newcomer).ok_or(Refusal::NoMemory)?;
    // Its destructor may have run meanwhile.
    if !unit.adopt_for(coordinator, forget) {
        slot.free();
    }
    Ok(())
}

/// Whether the record of a canary is in data of the object, and leads to its text.
fn is_canary(object: &Object<'_>, at: *const Canary) -> bool {
    let end = at.addr().saturating_add(size_of::<Canary>());
    if !at.is_aligned() || !object.is_writable(&(at.addr()..end)) {
        return false;
    }
    // SAFETY: in a segment that can be written (Invariant 1). Any bytes are a record.
    let canary = unsafe { &*at };
    let is_text = |at: usize| object.is_text(&(at..at.saturating_add(2)));
    is_text(canary.function()) && is_text(canary.bytes())
}

/// Finds out whether a tool has put some of a unit's functions elsewhere: whether it has text that no record leads into. Where the dynamic
/// linker cannot be asked, that stays unknown.
pub(in crate::patch) fn examine(unit: &Unit) {
    // SAFETY: null, or the record of a unit that is loaded.
    let Some(canary) = (unsafe { unit.canary().as_ref() }) else {
        return;
    };
    if canary.knows(WHOLE | MOVED) {
        return;
    }
    let at = (&raw const *unit).addr();
    loaded_objects::each(|object| {
        let is_its = object.bounds().contains(&at);
        if is_its {
            examine_in(object, unit, canary);
        }
        !is_its
    });
}

/// Nothing is written to text there.
#[cfg(not(target_arch = "x86_64"))]
fn examine_in(_: &Object<'_>, _: &Unit, _: &Canary) {}

/// The same in the unit's object.
#[cfg(target_arch = "x86_64")]
fn examine_in(object: &Object<'_>, unit: &Unit, canary: &Canary) {
    let [start, stop] = unit.lock.each_ref().map(|word| word.load(Acquire).cast_const());
    let [keys, end_of_keys] = unit.keys();
    let readable = |start: usize, stop: usize| start <= stop && object.is_readable(&(start..stop));
    if !readable(start.addr(), stop.addr()) || !readable(keys.addr(), end_of_keys.addr()) {
        return;
    }
    let count = (stop.addr() - start.addr()) / size_of::<Record>();
    // SAFETY: readable, and numbers of any value (Invariant 1).
    let records = unsafe { core::slice::from_raw_parts(start.cast::<Record>(), count) };
    // SAFETY: as above.
    let tests = unsafe { arch::key::Table::between(keys, end_of_keys) };
    let whole = object.each_text_has(|| {
        let sites = records.iter().filter_map(Record::site).map(|site| site.addr());
        let tests = tests.into_iter().flat_map(arch::key::Table::all_sites);
        sites.chain(tests).chain([canary.bytes()])
    });
    canary.learn(if whole { WHOLE } else { MOVED });
}

/// How many sites a table has, all of them LOCK prefixes in the object's text. `None`: one of them lies elsewhere.
fn sites_of(object: &Object<'_>, table: &Range<*const i32>) -> Result<usize, Option<Refusal>> {
    let records = (table.end.addr() - table.start.addr()) / size_of::<Record>();
    // SAFETY: the caller has checked the range: it can be read, and is aligned (Invariant 1). A record is any number.
    let records = unsafe { core::slice::from_raw_parts(table.start.cast::<Record>(), records) };
    let mut sites = 0;
    // The mapping, which may allow less than the object asks for, or be shared.
    let mut text = 0..0;
    let mut reader = TextReader::new();
    for site in records.iter().filter_map(Record::site) {
        let at = site.addr();
        if !object.is_text(&(at..at.saturating_add(1))) {
            return Err(None);
        }
        if !text.contains(&at) {
            text = proc_maps::text_around(at).map_err(Some)?;
        }
        // SAFETY: text of a listed object (Invariant 1), which others change by atomic stores only.
        let found = unsafe { reader.byte(core::ptr::with_exposed_provenance_mut(at)) };
        match found {
            Some(arch::LOCK) => {}
            Some(found) => return Err(Some(unexpected_byte(at, found))),
            None => return Err(Some(Refusal::NotText { at })),
        }
        sites += 1;
    }
    Ok(sites)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    /// Descriptors in memory of no object, as what an object that was closed has left. The twin: without a sweep there is no room.
    #[test]
    fn what_closed_objects_have_left_makes_room() {
        let left: Vec<_> = (0..=MOST_UNLISTED).map(|_| Box::new([0u64; 64])).collect();
        let unit = |n: usize| left[n].as_ptr().cast_mut().cast::<Unit>();
        let [mut filled, mut made_room] = [false; 2];
        // Walks of other tests may be sweeps, and forks of theirs keep one from being sure of what it saw.
        for _ in 0..10_000 {
            each_unit(|_, _| ());
            filled = (0..MOST_UNLISTED).all(|n| place(unit(n))) && !place(unit(MOST_UNLISTED));
            remember(unit(MOST_UNLISTED));
            made_room = filled && REGISTERED.iter().any(|place| registered(place) == unit(MOST_UNLISTED));
            if made_room {
                break;
            }
        }
        let are_gone = || (0..left.len()).all(|n| REGISTERED.iter().all(|place| registered(place) != unit(n)));
        let gone = (0..10_000).any(|_| {
            each_unit(|_, _| ());
            are_gone()
        });
        assert!(filled && made_room && gone);
    }

    /// A unit that registers while a sweep goes on stays, though an object before it at the same address left the entry. The twin: one
    /// that does not register goes.
    #[test]
    fn a_unit_that_registers_during_a_sweep_stays() {
        let left = [const { [0u64; 64] }; 2].map(Box::new);
        let [again, gone] = [0, 1].map(|n| left[n].as_ptr().cast_mut().cast::<Unit>());
        let is_there = |unit| REGISTERED.iter().any(|place| registered(place) == unit);
        // Another test may have filled the places.
        let placed = (0..10_000).any(|_| {
            each_unit(|_, _| ());
            place(again) && place(gone)
        });
        assert!(placed);
        let sweep = loop {
            // Of another test.
            match Sweep::begin() {
                Some(sweep) if is_there(again) && is_there(gone) => break sweep,
                Some(sweep) => sweep.end(false),
                None => std::thread::yield_now(),
            }
            let _ = place(again) && place(gone);
        };
        assert!(place(again));
        sweep.end(true);
        assert!(is_there(again) && !is_there(gone));
        each_unit(|_, _| ());
    }
}
