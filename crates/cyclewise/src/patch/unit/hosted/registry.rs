//! The link units whose sites the coordinator patches with its own.
//!
//! # States of a slot
//! [`FREE`] → claimed → [`READY`] → `FREE`. Only a thread inside the dynamic linker's callback claims one (`adoption`), by a number that
//! no other walk has. It makes it ready after the walk, unless the holder of the mode lock has freed it.
//!
//! # Invariants
//! 1. A unit of a ready slot was checked, is mapped, and has the state `ADOPTED`: its destructor frees the slot before the dynamic
//!    linker unmaps it. So what a slot points at is mapped for the holder of the mode lock.
//! 2. The table of a unit in a ready slot lies in the unit's read-only data, each of its records in the unit's text.
//! 3. `listed`, `elided`, `given_up` and `found` belong to the holder of the mode lock; `text` to the holder of the text lock.
//!
//! # Forks
//! A child may have a copy of a slot from the middle of a change. Adoption makes a call between the unit's state and the slot's that
//! waits for a fork in progress (`adoption`), so a child with a ready slot has an adopted unit. A child with a claimed slot
//! has LOCK in that unit.
//!
//! # Safety
//! Tables and words of units are reached through ready slots by the holder of the mode lock (Invariants 1 and 2).
#![expect(unsafe_code, reason = "tables of other link units, by their address")]

use crate::arch::Record;
use crate::arch::text_lock::Words;
use crate::error::Refusal;
use crate::patch::text_guard::{OtherGuard, TextGuard};
use crate::patch::unit::Unit;
use core::mem::ManuallyDrop;
use core::ops::Range;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

/// How many units there are at most, beside the coordinator's own. Further ones keep LOCK. A guess: programs load hundreds of
/// shared objects, and few of them have sites.
const MOST: usize = 256;

const FREE: u64 = 0;
const READY: u64 = 1;

/// One unit. Its words are in one page, which fork copies in the order of their stores.
#[repr(align(128))]
pub(in crate::patch) struct Slot {
    state: AtomicU64,
    /// Whether the edit list has its sites.
    listed: AtomicBool,
    /// Whether its sites are elided, or may be.
    elided: AtomicBool,
    /// Whether it keeps LOCK for good, as its code was moved.
    given_up: AtomicBool,
    /// Whether this thread holds the unit's text lock, and what it found in it.
    held: AtomicBool,
    found: AtomicU64,
    unit: AtomicPtr<Unit>,
    /// Where the object is.
    object: [AtomicUsize; 2],
    /// The table of LOCK sites.
    table: [AtomicPtr<i32>; 2],
    /// How many sites it has.
    count: AtomicUsize,
    words: AtomicPtr<Words>,
    /// The mapping of its text that was found last.
    text: [AtomicUsize; 2],
}

static SLOTS: [Slot; MOST] = [const { Slot::new() }; MOST];

/// How often a slot became ready or free.
static VERSION: AtomicUsize = AtomicUsize::new(0);

/// What a newcomer's slot is filled with.
pub(in crate::patch) struct Newcomer {
    pub(in crate::patch) unit: *mut Unit,
    pub(in crate::patch) object: Range<usize>,
    pub(in crate::patch) table: Range<*const i32>,
    pub(in crate::patch) count: usize,
    pub(in crate::patch) words: *const Words,
}

/// The slots that one walk claims: their state until they are ready.
pub(in crate::patch) struct Claim(u64);

impl Claim {
    pub(in crate::patch) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(READY);
        // Relaxed: nothing but the number is passed on.
        Self(LAST.fetch_add(1, Relaxed) + 1)
    }

    /// Claims a free slot for a unit.
    pub(in crate::patch) fn slot(&self, newcomer: &Newcomer) -> Option<&'static Slot> {
        // Acquire: pairs with the Release in `free`.
        let slot = SLOTS
            .iter()
            .find(|slot| slot.state.compare_exchange(FREE, self.0, Acquire, Relaxed).is_ok())?;
        // Relaxed: `publish` orders them.
        slot.unit.store(newcomer.unit, Relaxed);
        slot.object[0].store(newcomer.object.start, Relaxed);
        slot.object[1].store(newcomer.object.end, Relaxed);
        slot.table[0].store(newcomer.table.start.cast_mut(), Relaxed);
        slot.table[1].store(newcomer.table.end.cast_mut(), Relaxed);
        slot.count.store(newcomer.count, Relaxed);
        slot.words.store(newcomer.words.cast_mut(), Relaxed);
        Some(slot)
    }

    /// Makes its slots ready, but those that units' destructors have freed.
    pub(in crate::patch) fn publish(self) {
        for slot in &SLOTS {
            // Release: pairs with the Acquire in `ready`.
            if slot.state.compare_exchange(self.0, READY, Release, Relaxed).is_ok() {
                VERSION.fetch_add(1, SeqCst);
            }
        }
    }
}

impl Slot {
    const fn new() -> Self {
        Self {
            state: AtomicU64::new(FREE),
            listed: AtomicBool::new(false),
            elided: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
            held: AtomicBool::new(false),
            found: AtomicU64::new(0),
            unit: AtomicPtr::new(core::ptr::null_mut()),
            object: [const { AtomicUsize::new(0) }; 2],
            table: [const { AtomicPtr::new(core::ptr::null_mut()) }; 2],
            count: AtomicUsize::new(0),
            words: AtomicPtr::new(core::ptr::null_mut()),
            text: [const { AtomicUsize::new(0) }; 2],
        }
    }

    /// Frees a slot. For the holder of the mode lock, or whoever has claimed it.
    pub(in crate::patch) fn free(&self) {
        self.listed.store(false, Relaxed);
        self.elided.store(false, Relaxed);
        self.given_up.store(false, Relaxed);
        for word in &self.text {
            word.store(0, Relaxed);
        }
        self.unit.store(core::ptr::null_mut(), Relaxed);
        // Release: pairs with the Acquire in `Claim::slot`.
        self.state.store(FREE, Release);
        VERSION.fetch_add(1, SeqCst);
    }

    pub(in crate::patch) fn object(&self) -> Range<usize> {
        self.object[0].load(Relaxed)..self.object[1].load(Relaxed)
    }

    fn table(&self) -> Range<usize> {
        let [start, stop] = self.table.each_ref().map(|word| word.load(Relaxed).addr());
        start..stop
    }

    /// The addresses of its sites. For the holder of the mode lock.
    pub(in crate::patch) fn sites(&self) -> impl Iterator<Item = *mut u8> {
        let start = self.table[0].load(Relaxed).cast_const().cast::<Record>();
        let records = self.table().len() / size_of::<Record>();
        // SAFETY: the unit's table, which was checked and is mapped while the slot is ready (Invariants 1 and 2).
        let records = unsafe { core::slice::from_raw_parts(start, records) };
        records.iter().filter_map(Record::site)
    }

    pub(in crate::patch) fn count(&self) -> usize {
        self.count.load(Relaxed)
    }

    pub(in crate::patch) fn list(&self, listed: bool) {
        self.listed.store(listed, Relaxed);
    }

    /// Whether the edit list has to have its sites: it has them, or they may be elided.
    pub(in crate::patch) fn must_stay(&self) -> bool {
        self.listed.load(Relaxed) || self.is_elided()
    }

    pub(in crate::patch) fn is_listed(&self) -> bool {
        self.listed.load(Relaxed)
    }

    /// Its unit. For the holder of the mode lock.
    pub(in crate::patch) fn unit(&self) -> &Unit {
        // SAFETY: mapped while the slot is ready (Invariant 1).
        unsafe { &*self.unit.load(Relaxed) }
    }

    /// Leaves LOCK in it for good. The caller takes its sites out of the edit list; none is elided.
    pub(in crate::patch) fn give_up(&self) {
        self.listed.store(false, Relaxed);
        self.given_up.store(true, Relaxed);
    }

    /// Whether that was done.
    pub(in crate::patch) fn is_given_up(&self) -> bool {
        self.given_up.load(Relaxed)
    }

    pub(in crate::patch) fn is_elided(&self) -> bool {
        self.elided.load(Relaxed)
    }

    /// Takes the unit's text lock, if it has one.
    ///
    /// # Errors
    /// As [`OtherGuard::take`].
    pub(in crate::patch) fn hold(&self) -> Result<(), Refusal> {
        // SAFETY: null, or words of a unit that is mapped (Invariant 1).
        let Some(words) = (unsafe { self.words.load(Relaxed).as_ref() }) else {
            return Ok(());
        };
        if let Some(guard) = OtherGuard::take(words, || true)? {
            self.found.store(ManuallyDrop::new(guard).found(), Relaxed);
            self.held.store(true, Relaxed);
        }
        Ok(())
    }

    fn release(&self) {
        if !self.held.swap(false, Relaxed) {
            return;
        }
        // SAFETY: as in `hold`.
        if let Some(words) = unsafe { self.words.load(Relaxed).as_ref() } {
            drop(OtherGuard::taken(words, self.found.load(Relaxed)));
        }
    }
}

pub(in crate::patch) fn ready() -> impl Iterator<Item = &'static Slot> {
    // Acquire: pairs with the Release in `Claim::publish`.
    SLOTS.iter().filter(|slot| slot.state.load(Acquire) == READY)
}

pub(in crate::patch) fn slot_of(unit: *const Unit) -> Option<&'static Slot> {
    let is_its = |slot: &&Slot| slot.state.load(Acquire) != FREE && slot.unit.load(Relaxed).cast_const() == unit;
    SLOTS.iter().find(is_its)
}

/// Whether a unit has a table that overlaps this one.
pub(in crate::patch) fn overlaps(table: &Range<*const i32>) -> bool {
    let (start, end) = (table.start.addr(), table.end.addr());
    let overlaps = |slot: &Slot| slot.table().start < end && start < slot.table().end;
    SLOTS
        .iter()
        .any(|slot| slot.state.load(Acquire) != FREE && overlaps(slot))
}

/// Changes whenever the ready slots do.
pub(in crate::patch) fn version() -> usize {
    VERSION.load(SeqCst)
}

/// Units, their sites, and how many of those are elided.
pub(in crate::patch) fn count() -> (usize, usize, usize) {
    let patched = ready().filter(|slot| !slot.is_given_up());
    patched.fold((0, 0, 0), |(units, sites, elided), slot| {
        let of_these = if slot.is_elided() { slot.count() } else { 0 };
        (units + 1, sites + slot.count(), elided + of_these)
    })
}

/// How many units keep LOCK for good.
pub(in crate::patch) fn given_up() -> usize {
    ready().filter(|slot| slot.is_given_up()).count()
}

/// Releases units' text locks.
pub(in crate::patch) fn release() {
    SLOTS.iter().for_each(Slot::release);
}

/// In a child whose parent held units' text locks: this thread holds none.
pub(in crate::patch) fn none_held() {
    for slot in &SLOTS {
        slot.held.store(false, Relaxed);
    }
}

/// Marks the units in the edit list as elided, before they are, or not, once they are not.
pub(in crate::patch) fn mark_elided(elided: bool) {
    for slot in ready().filter(|slot| slot.listed.load(Relaxed) || !elided) {
        slot.elided.store(elided, Relaxed);
    }
}

/// Marks each unit as what its sites say, after a change that failed.
pub(in crate::patch) fn mark_found(is_elided: impl Fn(*mut u8) -> bool) {
    for slot in ready() {
        slot.elided.store(slot.sites().any(&is_elided), Relaxed);
    }
}

pub(in crate::patch) fn listed_are_elided() -> bool {
    ready().filter(|slot| slot.listed.load(Relaxed)).all(Slot::is_elided)
}

/// The mapping of text found for the unit that holds `address`.
#[allow(dead_code, reason = "only x86-64 has text to write")]
pub(in crate::patch) fn text_around(_: &TextGuard, address: usize) -> Option<Range<usize>> {
    // Relaxed, here and below: the text lock orders them.
    let text = |slot: &Slot| slot.text[0].load(Relaxed)..slot.text[1].load(Relaxed);
    ready().map(text).find(|text| text.contains(&address))
}

/// Keeps the mapping of text around `address`, if a unit holds it.
#[allow(dead_code, reason = "only x86-64 has text to write")]
pub(in crate::patch) fn keep_text(_: &TextGuard, address: usize, text: &Range<usize>) {
    if let Some(slot) = ready().find(|slot| slot.object().contains(&address)) {
        slot.text[0].store(text.start, Relaxed);
        slot.text[1].store(text.end, Relaxed);
    }
}
