//! The edit list: one edit for each LOCK site of this link unit and of the units that it has adopted. It is kept between changes, so
//! that restoring LOCK allocates nothing.
//!
//! # Invariants
//! 1. The list has the sites of the units that are marked as listed, and they stay mapped: a unit's destructor waits for the mode
//!    lock and takes its sites out of the list.
//! 2. Sites of units that are ready and not listed have LOCK. So a unit stays listed until it is forgotten.
//! 3. While `elided` is false, no site of the list is elided, unless a change failed and was not rolled back. Then the mode that
//!    needs no LOCK stays in force.
//!
//! # Safety
//! Sites lie in this link unit's text, which stays mapped while this code runs, or in that of units that stay mapped (Invariant 1).
//! Only the holder of the mode lock has the list, so no other thread of ours edits these sites (Invariant 1 of `mode_lock`).
#![expect(unsafe_code, reason = "applies edits of text")]

use super::canary::{self, SiteKind};
use super::sites::{TextReader, sites};
use super::text::{Edit, Others, kept};
use super::text_edit::unexpected_byte;
use super::text_locks::TextLocks;
use super::unit;
use super::unit::hosted::registry::{self, Slot};
use crate::arch;
use crate::error::Refusal;
use std::vec::Vec;

/// The edits, sorted by address, without duplicates.
pub(super) struct EditList {
    edits: Vec<Edit>,
    /// The registry's version when the sites were collected; `None` before.
    collected: Option<usize>,
    elided: bool,
    /// A site that could not be restored before its unit's destructor had to return.
    lost: Option<usize>,
}

/// Memory for the edits of all units. It is allocated before the mode lock is taken and freed after that is released: the allocator
/// may wait for a thread that waits for the lock.
pub(super) struct Room(Vec<Edit>);

impl Room {
    /// For the units there are now.
    ///
    /// # Errors
    /// [`Refusal::NoMemory`].
    pub(super) fn new() -> Result<Self, Refusal> {
        let mut edits = Vec::new();
        let wanted = arch::records().len() + registry::count().1;
        edits.try_reserve_exact(wanted).map_err(|_| Refusal::NoMemory)?;
        Ok(Self(edits))
    }
}

impl EditList {
    pub(super) const fn new() -> Self {
        Self {
            edits: Vec::new(),
            collected: None,
            elided: false,
            lost: None,
        }
    }

    /// Checks that every site has LOCK, and collects the sites of units that were adopted since the last time.
    ///
    /// # Errors
    /// [`Refusal::Breakpoint`] and [`Refusal::UnexpectedByte`], the latter also where another copy of the crate elided
    /// a site. [`Refusal::NotText`] where one cannot be read, [`Refusal::HalfWritten`] where one was never restored.
    pub(super) fn check_locked(&mut self, room: &mut Room) -> Result<(), Refusal> {
        self.none_is_lost()?;
        self.collect_new(room);
        self.all_have_lock()
    }

    fn none_is_lost(&self) -> Result<(), Refusal> {
        self.lost.map_or(Ok(()), |at| Err(Refusal::HalfWritten { at }))
    }

    fn all_have_lock(&self) -> Result<(), Refusal> {
        let mut reader = TextReader::new();
        self.edits
            .iter()
            .try_for_each(|edit| match prefix(&mut reader, edit.at) {
                Some(arch::LOCK) => Ok(()),
                Some(found) => Err(unexpected_byte(edit.at.addr(), found)),
                None => Err(Refusal::NotText { at: edit.at.addr() }),
            })
    }

    /// Elides LOCK everywhere, and keeps a descriptor open for restoring it.
    ///
    /// # Errors
    /// Where the text cannot be written. [`none_elided`](Self::none_elided) tells whether that was rolled back.
    ///
    /// # Safety
    /// Until [`restore`](Self::restore) or [`restore_alone`](Self::restore_alone) returns `Ok`, all threads of this process are on one
    /// CPU at a time.
    pub(super) unsafe fn elide(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller vouches for the elided prefix, and `Others::Asked` asks the kernel for other threads.
        unsafe { self.elide_with(Others::Asked) }
    }

    /// The same where no other thread can run. Uses no membarrier, whichever threads the kernel still counts.
    ///
    /// # Errors
    /// As [`elide`](Self::elide).
    ///
    /// # Safety
    /// As [`elide`](Self::elide). And the calling thread is the only one of the process that can run its code, and creates
    /// none before this returns, in a handler either.
    pub(super) unsafe fn elide_alone(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller vouches for the elided prefix, and is the only thread that can run.
        unsafe { self.elide_with(Others::None) }
    }

    /// # Safety
    /// As [`elide`](Self::elide); with [`Others::None`], as [`elide_alone`](Self::elide_alone).
    unsafe fn elide_with(&mut self, others: Others) -> Result<(), Refusal> {
        let held = TextLocks::all()?;
        // SAFETY: the caller vouches for `others`.
        unsafe { self.ask_canaries(&held, others) }?;
        set_direction(&mut self.edits, arch::LOCK, arch::ELIDED);
        registry::mark_elided(true);
        // SAFETY: Invariant 1. Either prefix makes one whole instruction, and the caller vouches for the elided one and for
        // `others`.
        let applied = unsafe { kept::apply_and_keep(held.own(), &mut self.edits, others) };
        match applied {
            Ok(()) => self.elided = true,
            Err(_) => registry::mark_found(is_elided),
        }
        applied
    }

    /// Where the sites are elided, elides those of units that were adopted since, too. Gives whether all are elided.
    ///
    /// # Errors
    /// As [`elide`](Self::elide); the others stay elided.
    ///
    /// # Safety
    /// As [`elide`](Self::elide); with [`Others::None`], as [`elide_alone`](Self::elide_alone).
    pub(super) unsafe fn elide_more(&mut self, room: &mut Room, others: Others) -> Result<bool, Refusal> {
        if !self.elided {
            return Ok(false);
        }
        self.none_is_lost()?;
        self.collect_new(room);
        if registry::listed_are_elided() {
            return Ok(self.all_elided());
        }
        let held = TextLocks::all()?;
        // SAFETY: the caller vouches for `others`.
        unsafe { self.ask_canaries(&held, others) }?;
        set_direction(&mut self.edits, arch::LOCK, arch::ELIDED);
        registry::mark_elided(true);
        // SAFETY: Invariant 1. Either prefix makes one whole instruction, and the caller vouches for the elided one and for
        // `others`.
        let applied = unsafe { kept::apply_more(held.own(), &mut self.edits, others) };
        if applied.is_err() {
            registry::mark_found(is_elided);
        }
        applied.map(|()| self.all_elided())
    }

    /// Checks that what is written to sites is what runs (`canary`). Another unit in which it is not keeps LOCK from now on.
    ///
    /// # Errors
    /// [`Refusal::MovedText`] of this unit; where the text cannot be written.
    ///
    /// # Safety
    /// With [`Others::None`], the calling thread is the only one of the process that can run its code.
    unsafe fn ask_canaries(&mut self, held: &TextLocks, others: Others) -> Result<(), Refusal> {
        // SAFETY: the bytes of a canary are right at any time, and the caller vouches for `others`.
        let apply = |edits: &mut [Edit]| unsafe { kept::apply_more(held.own(), edits, others) };
        if let Some(own) = unit::own() {
            // SAFETY: this unit's own.
            unsafe { canary::check(own.canary(), SiteKind::OneByte, apply) }?;
        }
        for slot in registry::ready().filter(|slot| slot.is_listed()) {
            // SAFETY: the unit is mapped while its slot is ready, and its canary was checked when it was adopted.
            match unsafe { canary::check(slot.unit().canary(), SiteKind::OneByte, apply) } {
                Err(Refusal::MovedText { .. }) => {
                    let object = slot.object();
                    self.edits.retain(|edit| !object.contains(&edit.at.addr()));
                    slot.give_up();
                }
                checked => checked?,
            }
        }
        Ok(())
    }

    /// Whether the sites of all units that are ready are elided.
    pub(super) fn all_elided(&self) -> bool {
        self.elided && self.collected == Some(registry::version()) && registry::listed_are_elided()
    }

    /// Restores LOCK everywhere, and makes every CPU that runs this process fetch it.
    ///
    /// # Errors
    /// Where the text cannot be written, or a site does not read LOCK afterwards.
    pub(super) fn restore(&mut self) -> Result<(), Refusal> {
        // SAFETY: `Others::Asked` asks the kernel for other threads.
        unsafe { self.restore_with(Others::Asked) }
    }

    /// Restores LOCK everywhere where no other thread can run, and makes the calling CPU fetch it. Uses the descriptor
    /// kept open, and no membarrier: a sandbox entered since may refuse anything else.
    ///
    /// # Errors
    /// As [`restore`](Self::restore).
    ///
    /// # Safety
    /// The calling thread is the only one of the process that can run its code.
    pub(super) unsafe fn restore_alone(&mut self) -> Result<(), Refusal> {
        // SAFETY: the caller is the only thread that can run.
        unsafe { self.restore_with(Others::None) }
    }

    /// # Safety
    /// With [`Others::None`], the calling thread is the only one of the process that can run its code.
    unsafe fn restore_with(&mut self, others: Others) -> Result<(), Refusal> {
        self.none_is_lost()?;
        if self.collected.is_none() {
            self.collect_all();
        }
        set_direction(&mut self.edits, arch::ELIDED, arch::LOCK);
        let held = TextLocks::all()?;
        kept::make_readable(held.own(), &self.edits);
        // SAFETY: Invariant 1. An instruction with LOCK is right in every mode, and the caller vouches for `others`.
        unsafe { kept::apply_and_release(held.own(), &mut self.edits, others) }?;
        self.all_have_lock()?;
        self.elided = false;
        registry::mark_elided(false);
        Ok(())
    }

    /// Restores LOCK in a unit, and takes its sites out of the list. Where LOCK cannot be restored in sites that may be elided, it
    /// never is anywhere from now on.
    ///
    /// # Safety
    /// With [`Others::None`], the calling thread is the only one of the process that can run its code.
    pub(super) unsafe fn forget(&mut self, slot: &'static Slot, others: Others) {
        if self.collected.is_none() {
            self.collect_all();
        }
        let object = slot.object();
        let start = self.edits.partition_point(|edit| edit.at.addr() < object.start);
        let end = self.edits.partition_point(|edit| edit.at.addr() < object.end);
        // SAFETY: the caller vouches for `others`.
        let restored = unsafe { restore_some(&mut self.edits[start..end], slot, others) };
        // Without an elided site, one that does not read LOCK has a breakpoint, which is its owner's.
        if restored.is_err() && slot.is_elided() {
            self.lost = self.edits.get(start).map(|edit| edit.at.addr());
        }
        self.edits.drain(start..end);
    }

    /// Whether no site is elided. Sites with a breakpoint were refused before, so one found now replaced LOCK. One that cannot be read
    /// may be elided.
    pub(super) fn none_elided(&self) -> bool {
        let own = sites().map(|site| core::ptr::with_exposed_provenance_mut(site.address()));
        let mut reader = TextReader::new();
        own.chain(self.edits.iter().map(|edit| edit.at))
            .all(|at| prefix(&mut reader, at).is_some_and(|found| found != arch::ELIDED))
    }

    /// Collects the sites if there are units that were not there the last time; whether there were.
    fn collect_new(&mut self, room: &mut Room) -> bool {
        if self.collected == Some(registry::version()) {
            return false;
        }
        if room.0.capacity() > self.edits.capacity() {
            core::mem::swap(&mut self.edits, &mut room.0);
        }
        self.collect();
        true
    }

    /// The same with memory allocated here: in a child whose parent was changing the list.
    fn collect_all(&mut self) {
        self.edits.reserve(arch::records().len() + registry::count().1);
        self.collect();
    }

    /// Collects the sites of units that are listed or elided, then those of others for which there is room. A unit for which there is
    /// none keeps LOCK until the next time.
    ///
    /// There is room for those that are listed: the list had them. Only in a child whose parent was changing the list may it be
    /// missing, and memory is allocated here.
    fn collect(&mut self) {
        let version = registry::version();
        if self.collected.is_none() {
            registry::none_held();
        }
        self.edits.clear();
        self.edits
            .extend(sites().map(|site| edit(core::ptr::with_exposed_provenance_mut(site.address()))));
        let mut all = true;
        let units = || registry::ready().filter(|slot| !slot.is_given_up());
        in_order(units, Slot::must_stay, |slot, stays| {
            let fits = stays || slot.count() <= self.edits.capacity() - self.edits.len();
            slot.list(fits);
            all &= fits;
            if fits {
                self.edits.extend(slot.sites().map(edit));
            }
        });
        self.edits.sort_unstable_by_key(|edit| edit.at);
        self.edits.dedup_by_key(|edit| edit.at);
        // Of an older version where a unit is left: it is looked at again.
        self.collected = Some(if all { version } else { version.wrapping_sub(1) });
    }
}

/// Shows `take` the members that stay, then the others: these get what room is left, wherever they are.
fn in_order<M: Copy, I: Iterator<Item = M>>(
    members: impl Fn() -> I,
    stays: impl Fn(M) -> bool,
    mut take: impl FnMut(M, bool),
) {
    members()
        .filter(|member| stays(*member))
        .for_each(|member| take(member, true));
    members()
        .filter(|member| !stays(*member))
        .for_each(|member| take(member, false));
}

/// Restores LOCK in sites of a unit that are elided.
///
/// # Safety
/// With [`Others::None`], the calling thread is the only one of the process that can run its code.
unsafe fn restore_some(edits: &mut [Edit], slot: &'static Slot, others: Others) -> Result<(), Refusal> {
    // Also where nothing is restored: then no other thread looks at what the slot holds.
    let held = TextLocks::take(core::iter::once(slot))?;
    kept::make_readable(held.own(), edits);
    let mut reader = TextReader::new();
    if edits
        .iter()
        .all(|edit| prefix(&mut reader, edit.at) == Some(arch::LOCK))
    {
        return Ok(());
    }
    set_direction(edits, arch::ELIDED, arch::LOCK);
    // SAFETY: the unit is mapped until its destructor, which called, returns. An instruction with LOCK is right in every mode, and
    // the caller vouches for `others`.
    unsafe { kept::apply_more(held.own(), edits, others) }
}

fn edit(at: *mut u8) -> Edit {
    Edit {
        at,
        len: 1,
        expect: [0; 8],
        new: [0; 8],
    }
}

fn set_direction(edits: &mut [Edit], expect: u8, new: u8) {
    for edit in edits {
        edit.expect[0] = expect;
        edit.new[0] = new;
    }
}

/// Whether a site is elided, as far as can be read.
fn is_elided(at: *mut u8) -> bool {
    prefix(&mut TextReader::new(), at).is_none_or(|found| found == arch::ELIDED)
}

/// The byte at a site of the list; `None` where it cannot be read.
fn prefix(reader: &mut TextReader, at: *mut u8) -> Option<u8> {
    // SAFETY: text that stays mapped (Invariant 1), which others change by atomic stores only.
    unsafe { reader.byte(at) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::Cell;

    /// A unit: its sites, and whether the list has them.
    type Member = (usize, Cell<bool>);

    /// Which members are in the list after a newcomer came before one that is in it, with room for one of them.
    fn taken(stays: impl Fn(&Member) -> bool) -> [bool; 2] {
        let members = [(64, Cell::new(false)), (64, Cell::new(true))];
        let mut room = 64;
        in_order(
            || members.iter(),
            stays,
            |(sites, listed), stays| {
                listed.set(stays || *sites <= room);
                room -= if listed.get() { *sites } else { 0 };
            },
        );
        members.map(|(_, listed)| listed.get())
    }

    #[test]
    fn who_is_in_the_list_stays_in_it() {
        assert_eq!(taken(|(_, listed)| listed.get()), [false, true]);
    }

    #[test]
    fn twin_in_the_order_of_the_slots_an_elided_unit_is_left_out() {
        assert_eq!(taken(|_| false), [true, false]);
    }
}
