//! Checks all sites of this link unit, and writes what this CPU supports to each.
//!
//! # Safety
//! 1. Default and replacement of a record have the same effect at any address (`arch::x86_64::alternative`, Invariant
//!    3).
#![expect(unsafe_code, reason = "edits text")]

use crate::arch::alternative::{self, Site};
use crate::error::Refusal;
use crate::patch::canary::{self, SiteKind};
use crate::patch::text::{self, Edit};
use crate::patch::text_lock;
use crate::patch::unit;
use crate::sys::{proc_task, signal_mask};
use alloc::vec::Vec;

/// The most bytes of an edit, and its alignment, so that no edit crosses a page.
const CHUNK: usize = 8;

pub(super) fn apply() -> Result<(), Refusal> {
    let sites = alternative::sites();
    let mut edits = Vec::new();
    let room = sites.clone().map(|site| site.room() / CHUNK + 2).sum();
    let room = edits.try_reserve_exact(room);
    room.map_err(|_| Refusal::NoMemory)?;
    for site in sites {
        let code = match alternative::has(site.feature()) {
            true => site.replacement(),
            false => site.default(),
        };
        edits.extend(chunks(site, code));
    }
    if let Some(unit) = unit::own() {
        // Before the lock: this waits for the dynamic linker.
        unit::examine(unit);
    }
    let held = text_lock::lock()?;
    // A signal handler could create a thread after the check, and a site takes more than one store.
    let _blocked = signal_mask::block_signals()?;
    match proc_task::count()? {
        1 => {}
        threads => return Err(Refusal::OtherThreads { threads }),
    }
    if let Some(unit) = unit::own() {
        // SAFETY: the bytes of a canary are right at any time.
        let write = |edits: &mut [Edit]| unsafe { text::apply_held(&held, edits, None) };
        // SAFETY: this unit is loaded while its code runs, and its text lock is held.
        unsafe { canary::check(unit.canary(), SiteKind::Several, write) }?;
    }
    // SAFETY: this thread is alone, and by the caller's promise not inside a site (Invariant 1).
    unsafe { text::apply_held(&held, &mut edits, None) }
}

/// The edits that write `code` and padding to a site.
fn chunks(site: Site, code: &'static [u8]) -> impl Iterator<Item = Edit> {
    let mut offset = 0;
    core::iter::from_fn(move || {
        let at = site.at().wrapping_add(offset);
        let len = (CHUNK - at.addr() % CHUNK).min(site.room() - offset);
        let mut edit = Edit {
            at,
            len: len as u8,
            expect: [0; CHUNK],
            new: [0; CHUNK],
        };
        for i in 0..len {
            edit.expect[i] = site.assembled(offset + i);
            edit.new[i] = site.padded(code, offset + i);
        }
        offset += len;
        (len > 0).then_some(edit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_cut_at_quadwords_and_padded_with_long_nops() {
        let at = core::ptr::without_provenance_mut(0x1006);
        let site = Site::fake(at, 15, &[1, 2, 3, 4], &[5; 15]);
        let bytes = |code, pick: fn(&Edit) -> [u8; 8]| {
            let bytes = chunks(site, code).flat_map(|e| pick(&e).into_iter().take(usize::from(e.len)));
            bytes.collect::<Vec<u8>>()
        };
        let cuts: Vec<_> = chunks(site, site.default()).map(|e| (e.at.addr(), e.len)).collect();
        assert_eq!(cuts, [(0x1006, 2), (0x1008, 8), (0x1010, 5)]);
        assert_eq!(bytes(site.replacement(), |e| e.new), [5; 15]);
        assert_eq!(
            bytes(site.default(), |e| e.expect),
            [
                1, 2, 3, 4, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90
            ]
        );
        assert_eq!(
            bytes(site.default(), |e| e.new),
            [1, 2, 3, 4, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0, 0x66, 0x90]
        );
    }
}
